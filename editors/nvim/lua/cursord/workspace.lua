--- The objects of each workspace, by id, kept up to date by the daemon's notifications.
local config = require('cursord.config')
local rpc = require('cursord.rpc')
local wording = require('cursord.wording')

--- @class cursord.Workspace
--- @field root string
--- @field seq? integer
--- @field epoch? string
--- @field sessions table<string, cursord.Session>
--- @field turns table<string, cursord.Turn> running and queued turns, and the last turn of each session
--- @field diffs table<string, cursord.Diff> by path
--- @field diff_seqs table<string, integer> the seq of the latest notification, by path
--- @field current? string the current session; nil for a new one
--- @field chosen? boolean the current session is known
--- @field next_model? string the model of the next session
--- @field next_mode? string the mode of the next session
--- @field next_isolation? 'none'|'copy' the isolation of the next session
--- @field next_permits { sandbox?: string, autoReview?: boolean, addDirs?: string[] } the permissions of the next session
--- @field mine table<string, true> the turns that this Neovim has started
--- @field approvals table<string, cursord.Approval> what agents ask, while it is pending
--- @field decisions integer how many decisions are on their way
--- @field ready boolean the subscription is there
--- @field loaded boolean the pending hunks are loaded
--- @field trouble? cursord.Error why they cannot be; it was said
local Workspace = {}
Workspace.__index = Workspace

local M = {}

local all = {} --- @type table<string, cursord.Workspace>
local last --- @type cursord.Workspace?

--- How long the daemon collects streamed text before it sends it, in milliseconds.
local delta_interval = 40

--- @alias cursord.Event 'session'|'turn'|'turn_removed'|'item'|'approval'|'delta'|'diff'|'reset'|'ready'|'down'

--- @type table<cursord.Event, fun(ws: cursord.Workspace, object: any, before: any)[]>
local listeners = {}

--- Calls listener for each event of a kind, in all workspaces.
--- @param event cursord.Event
--- @param listener fun(ws: cursord.Workspace, object: any, before: any)
function M.on(event, listener)
  listeners[event] = listeners[event] or {}
  table.insert(listeners[event], listener)
end

local function emit(event, ws, object, before)
  for _, listener in ipairs(listeners[event] or {}) do
    local ok, err = pcall(listener, ws, object, before)
    if not ok then
      rpc.say(('%s: %s'):format(event, err), vim.log.levels.ERROR)
    end
  end
end

local final = { completed = true, failed = true, cancelled = true, interrupted = true }

--- @param turn cursord.Turn
function M.ended(turn)
  return final[turn.status] or false
end

--- The folder of a buffer's workspace.
--- @param buf integer
--- @return string
function M.root_of(buf)
  local own = vim.b[buf].cursord_root
  if own then
    return own
  end
  local cfg = config.get()
  local root = cfg.root and cfg.root(buf)
  if not root and vim.bo[buf].buftype == '' then
    root = vim.fs.root(buf, cfg.root_markers)
  end
  if not root and vim.bo[buf].buftype ~= '' and last then
    return last.root
  end
  root = root or vim.fn.getcwd()
  return vim.uv.fs_realpath(root) or root
end

--- @param buf? integer
--- @return cursord.Workspace? # nil if it is not open
function M.find(buf)
  if buf == 0 or not buf then
    buf = vim.api.nvim_get_current_buf()
  end
  return all[M.root_of(buf)]
end

--- @return table<string, cursord.Workspace>
function M.all()
  return all
end

--- @param root string
--- @return cursord.Workspace?
function M.at(root)
  return all[root]
end

--- The workspace of a buffer, connected.
--- @param buf? integer
--- @return cursord.Workspace
function M.open(buf)
  if buf == 0 or not buf then
    buf = vim.api.nvim_get_current_buf()
  end
  return M.open_root(M.root_of(buf))
end

--- The workspace of a folder, connected.
--- @param root string
--- @return cursord.Workspace
function M.open_root(root)
  local ws = all[root]
  if not ws then
    ws = setmetatable({ root = root, mine = {}, next_permits = {}, decisions = 0 }, Workspace)
    ws:forget()
    all[root] = ws
    require('cursord.attach')
    if rpc.connected() then
      ws:subscribe()
    end
  end
  last = ws
  rpc.start()
  return ws
end

function Workspace:forget()
  self.seq, self.epoch, self.ready, self.loaded = nil, nil, false, false
  self.sessions, self.turns, self.diffs, self.diff_seqs = {}, {}, {}, {}
  self.approvals = {}
end

--- @param err cursord.Error of a request for what the workspace holds
function Workspace:fails(err)
  if not err.data or err.data.kind ~= 'disconnected' then
    self.trouble = err
    rpc.say_error(err)
  end
end

function Workspace:subscribe()
  self.trouble = nil
  rpc.request('workspace/subscribe', {
    workspace = self.root,
    after = self.seq,
    epoch = self.epoch,
    deltaInterval = delta_interval,
  }, function(err, result)
    if err then
      return self:fails(err)
    end
    if result.reset then
      local diffs = self.diffs
      self:forget()
      emit('reset', self, diffs)
    end
    if result.workspace ~= self.root then
      all[self.root], all[result.workspace] = nil, self
      self.root = result.workspace
    end
    self.epoch, self.ready = result.epoch, true
    emit('ready', self)
    if not self.loaded then
      self:load()
    end
  end)
end

--- Loads the pending hunks. Commands about hunks wait for it.
function Workspace:load()
  rpc.request('diff/list', { workspace = self.root }, function(err, result)
    if err then
      return self:fails(err)
    end
    for _, diff in ipairs(result.diffs) do
      self:put_diff(diff)
    end
    self.loaded = true
  end)
end

local handlers = {}

--- @param ws cursord.Workspace
handlers['session/changed'] = function(ws, p)
  local id = p.sessionId or p.session.id
  local before = ws.sessions[id]
  ws.sessions[id] = p.session
  if p.removed and ws.current == id then
    ws.current = nil
  end
  emit('session', ws, p.session or { id = id, removed = true }, before)
end

--- @param ws cursord.Workspace
handlers['turn/changed'] = function(ws, p)
  if p.removed then
    ws.turns[p.turnId] = nil
    emit('turn_removed', ws, p.turnId)
    return
  end
  local turn = p.turn --- @type cursord.Turn
  local before = ws.turns[turn.id]
  for id, other in pairs(ws.turns) do
    if other.sessionId == turn.sessionId and final[other.status] then
      ws.turns[id] = nil
    end
  end
  ws.turns[turn.id] = turn
  emit('turn', ws, turn, before)
end

handlers['item/changed'] = function(ws, p)
  emit('item', ws, p.item)
end

--- @param ws cursord.Workspace
handlers['approval/changed'] = function(ws, p)
  local approval = p.approval --- @type cursord.Approval
  local before = ws.approvals[approval.id]
  ws.approvals[approval.id] = approval.status == 'pending' and approval or nil
  emit('approval', ws, approval, before)
end

handlers['item/delta'] = function(ws, p)
  emit('delta', ws, p)
end

handlers['diff/changed'] = function(ws, p)
  ws.diff_seqs[p.diff.path] = p.diff.seq
  ws:put_diff(p.diff)
end

--- Stores a diff from an answer, unless a newer notification has come.
--- @param diff cursord.Diff
function Workspace:put_diff(diff)
  if diff.seq and diff.seq < (self.diff_seqs[diff.path] or 0) then
    return
  end
  local author = require('cursord.review.author')
  for _, hunk in ipairs(diff.hunks) do
    author.oppose(hunk)
    hunk.isolated = hunk.isolated or hunk.state == 'conflict' or nil
  end
  author.tie(diff)
  require('cursord.review.labels').put(self, diff)
  local before = self.diffs[diff.path]
  self.diffs[diff.path] = diff.state == 'pending' and diff or nil
  emit('diff', self, diff, before)
end

--- Whether the agent has deleted a file, and nobody has decided that yet.
--- @param path string
--- @return boolean
function Workspace:is_deleted(path)
  local diff = self.diffs[path]
  return diff ~= nil and diff.kind == 'deleted' and not diff.hunks[1].isolated
end

--- Sends a request that may change files.
--- @param method string
--- @param params table
--- @param callback cursord.Callback
function Workspace:decide(method, params, callback)
  self.decisions = self.decisions + 1
  rpc.request(method, params, function(err, result)
    self.decisions = self.decisions - 1
    callback(err, result)
  end)
end

--- @return cursord.Turn[] # running and queued ones
function Workspace:busy()
  local turns = {}
  for _, turn in pairs(self.turns) do
    if not final[turn.status] then
      turns[#turns + 1] = turn
    end
  end
  return turns
end

--- Counts the pending hunks and their files.
--- @return integer hunks
--- @return integer files
function Workspace:pending()
  local hunks, files = 0, 0
  for _, diff in pairs(self.diffs) do
    hunks, files = hunks + #diff.hunks, files + 1
  end
  return hunks, files
end

--- The current session, if there is one.
--- @return cursord.Session?
function Workspace:session()
  return self.current and self.sessions[self.current]
end

--- The first of some sessions that is not one of several attempts, between which the person has yet to choose.
--- @param sessions cursord.Session[]
--- @return cursord.Session?
local function to_continue(sessions)
  local beside = {}
  for _, session in ipairs(sessions) do
    local group = (session.attempt or {}).group
    if group then
      beside[group] = (beside[group] or 0) + 1
    end
  end
  for _, session in ipairs(sessions) do
    if not session.attempt or beside[session.attempt.group] == 1 then
      return session
    end
  end
end

--- Calls done when the current session is known: if the person has chosen none, it is the latest.
--- @param done fun()
function Workspace:choose(done)
  if self.chosen then
    return done()
  end
  rpc.request('session/list', { workspace = self.root }, function(err, result)
    if err and err.data and err.data.kind ~= 'disconnected' then
      rpc.say_error(err)
    end
    local session = to_continue(result and result.sessions or {})
    if session and not self.chosen then
      self:talk_with(session)
    end
    done()
  end)
end

--- @param session? cursord.Session nil for a new one
function Workspace:talk_with(session)
  self.chosen, self.current = true, session and session.id
  if session then
    self.sessions[session.id] = self.sessions[session.id] or session
  end
end

local levels = {
  error = vim.log.levels.ERROR,
  warning = vim.log.levels.WARN,
  info = vim.log.levels.INFO,
  debug = vim.log.levels.DEBUG,
}

rpc.on.notification = function(method, params)
  if method == 'log/message' then
    rpc.say(wording.here(params.message), levels[params.level])
    return
  end
  local handler, ws = handlers[method], all[params.workspace]
  if handler and ws then
    if params.seq and params.seq > (ws.seq or 0) then
      ws.seq = params.seq
    end
    handler(ws, params)
  end
end

rpc.on.up = function()
  for _, ws in pairs(all) do
    ws:subscribe()
  end
end

rpc.on.down = function()
  for _, ws in pairs(all) do
    ws.ready = false
    emit('down', ws)
  end
  return next(all) ~= nil
end

return M
