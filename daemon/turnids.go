package daemon

// A turnOwner may store turns with ids that the daemon has not made.
type turnOwner interface{ ownsTurns() }

func (*workspace) ownsTurns() {}
func (*importer) ownsTurns()  {}

// claimTurn reserves a turn's id, given by a client or an import, until freeTurn: an id that another workspace or import is
// about to store is not in the store yet. It returns false if another owner has it.
func (d *Daemon) claimTurn(id string, who turnOwner) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if owner := d.claimed[id]; owner != nil {
		return owner == who
	}
	d.claimed[id] = who
	return true
}

func (d *Daemon) freeTurn(id string, who turnOwner) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.claimed[id] == who {
		delete(d.claimed, id)
	}
}
