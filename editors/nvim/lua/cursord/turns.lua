--- Starts turns.
local config = require('cursord.config')
local rpc = require('cursord.rpc')

local api = vim.api
local M = {}

local function new_id()
  local out = {}
  for i = 1, 4 do
    out[i] = ('%08x'):format(math.random(0, 0x7fffffff))
  end
  return ('nvim-%x-%s'):format(vim.uv.hrtime(), table.concat(out))
end

--- The isolation of a new session: the person's choice, else the configuration; nil leaves it to the daemon.
--- @param ws cursord.Workspace
--- @return 'none'|'copy'|nil
function M.isolation(ws)
  return ws.next_isolation or config.get().isolation
end

--- Asks the person whether the agent may work in a workspace.
--- @param ws cursord.Workspace
--- @param path? string the folder in question, if it is another one
--- @param answered fun(trusted: boolean)
local function ask_trust(ws, path, answered)
  path = path or ws.root
  api.nvim_exec_autocmds('User', {
    pattern = 'CursordQuestion',
    modeline = false,
    data = { kind = 'trust', workspace = path },
  })
  vim.ui.select({ 'Trust it', 'Not now' }, {
    prompt = ('May the agent run commands and change files in %s?'):format(path),
  }, function(choice)
    if choice ~= 'Trust it' then
      local why = choice and 'no trust' or 'nothing was chosen'
      rpc.say(('not sent: %s; your prompt is in the chat'):format(why))
      return answered(false)
    end
    rpc.request('workspace/trust', { workspace = path, trusted = true }, function(err)
      if err then
        rpc.say_error(err)
      end
      answered(err == nil)
    end)
  end)
end

--- @alias cursord.Started fun(result?: { session: cursord.Session, turn: cursord.Turn })

--- @param done cursord.Started
local function start(ws, params, done, again)
  rpc.request('turn/start', params, function(err, result)
    local kind = err and err.data and err.data.kind
    if not err then
      done(result)
    elseif kind == 'workspaceUntrusted' then
      ask_trust(ws, err.data.path, function(trusted)
        if trusted then
          start(ws, params, done)
        else
          done()
        end
      end)
    elseif kind == 'disconnected' and not again and rpc.start() then
      -- The id makes repeated requests one turn.
      start(ws, params, done, true)
    else
      rpc.say_error(err)
      done()
    end
  end)
end

--- Starts a turn in a session, or in a new one with the chosen isolation and permissions. If that fails, the person is
--- told, and done gets no result.
--- @param ws cursord.Workspace
--- @param params table the parameters of turn/start
--- @param done cursord.Started
function M.start(ws, params, done)
  params = vim.tbl_extend('error', params, { turnId = new_id() })
  local isolation = M.isolation(ws)
  if params.sessionId or not isolation and vim.tbl_isempty(ws.next_permits) then
    return start(ws, params, done)
  end
  local session = vim.tbl_extend('error', {
    workspace = ws.root,
    isolation = isolation,
    model = params.model,
    mode = params.mode,
  }, ws.next_permits)
  rpc.request('session/create', session, function(err, made)
    if err then
      rpc.say_error(err)
      return done()
    end
    local id = made.session.id
    start(ws, vim.tbl_extend('error', params, { sessionId = id }), function(result)
      if not result then
        rpc.request('session/delete', { sessionId = id }, function() end)
      end
      done(result)
    end)
  end)
end

return M
