package daemon

// A turnOwner may bring turns with ids that were not made up here.
type turnOwner interface{ ownsTurns() }

func (*workspace) ownsTurns() {}
func (*importer) ownsTurns()  {}

// claimTurn reserves the id that a client or an import gave a turn for its owner, until freeTurn: what another workspace, or an
// import, is about to store is not in the store yet. It returns false if it is another's.
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
