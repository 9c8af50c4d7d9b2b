--- Choices of sessions, models, modes and permissions.
local chat = require('cursord.chat')
local rpc = require('cursord.rpc')

local M = {}

--- Lets the person pick a session of any folder, and shows it in the chat.
--- @param ws cursord.Workspace
--- @param list boolean in a buffer instead of a picker
function M.sessions(ws, list)
  if list then
    return require('cursord.sessions.list').open(ws)
  end
  local sessions = require('cursord.sessions')
  sessions.read(ws, function(entries)
    table.insert(entries, 1, { text = 'New session', root = ws.root, here = true, hunks = 0 })
    require('cursord.sessions.pickers').pick({
      entries = entries,
      choose = function(entry)
        if entry.list then
          require('cursord.sessions.list').open(ws)
        else
          sessions.go(entry)
        end
      end,
      again = function()
        M.sessions(ws, false)
      end,
    })
  end)
end

--- Goes on with the latest session of the workspace.
--- @param ws cursord.Workspace
function M.resume(ws)
  ws.chosen = nil
  ws:choose(function()
    if ws.current then
      chat.focus(ws)
    else
      rpc.say('there is no session to resume')
    end
  end)
end

--- Sets a property of the current session, or of the next one if there is none.
local function set(ws, key, value)
  local session = ws:session()
  if not session then
    ws['next_' .. key] = value
    return rpc.say(('%s of the next session: %s'):format(key, value))
  end
  rpc.request('session/update', { sessionId = session.id, [key] = value }, function(err)
    if err then
      rpc.say_error(err)
    else
      rpc.say(('%s: %s'):format(key, value))
    end
  end)
end

local models = {} --- @type string[] those that the agent told last

--- Asks the agent for its models.
--- @param done? cursord.Callback
local function ask_models(done)
  rpc.request('agent/models', vim.empty_dict(), function(err, result)
    if not err then
      models = vim.tbl_map(function(m)
        return m.id
      end, result.models)
    end
    if done then
      done(err, result)
    end
  end)
end

--- The known models, for completion. The agent is asked in the background; its answer serves the next completion.
--- @return string[]
function M.known_models()
  ask_models()
  return models
end

--- @param ws cursord.Workspace
--- @param model? string
function M.model(ws, model)
  if model then
    return ws:choose(function()
      set(ws, 'model', model)
    end)
  end
  ask_models(function(err, result)
    if err then
      return rpc.say_error(err)
    end
    vim.ui.select(result.models, {
      prompt = 'Model: ',
      format_item = function(m)
        return m.name .. (m.current and ' (current)' or '')
      end,
    }, function(m)
      if m then
        ws:choose(function()
          set(ws, 'model', m.id)
        end)
      end
    end)
  end)
end

M.modes = { 'agent', 'ask', 'plan' }

--- @param ws cursord.Workspace
--- @param mode? string
function M.mode(ws, mode)
  if mode then
    return ws:choose(function()
      set(ws, 'mode', mode)
    end)
  end
  vim.ui.select(M.modes, { prompt = 'Mode: ' }, function(choice)
    if choice then
      ws:choose(function()
        set(ws, 'mode', choice)
      end)
    end
  end)
end

M.isolations = { 'copy', 'none' }

local isolated = {
  copy = 'in a copy of the workspace',
  none = 'in the workspace itself',
}

--- Chooses where the agent works. A session never moves: the choice is for new sessions, and if the current one is of the
--- other kind, the chat goes on to a new one.
--- @param ws cursord.Workspace
--- @param isolation? string
function M.isolation(ws, isolation)
  if not isolation then
    local choose = {
      prompt = 'The agent works: ',
      format_item = function(i)
        return isolated[i]
      end,
    }
    return vim.ui.select(M.isolations, choose, function(choice)
      if choice then
        M.isolation(ws, choice)
      end
    end)
  elseif not isolated[isolation] then
    return rpc.say(('%q is neither copy nor none'):format(isolation), vim.log.levels.ERROR)
  end
  ws:choose(function()
    local session = ws:session()
    ws.next_isolation = isolation
    if session and session.isolation ~= isolation then
      chat.switch(ws)
    end
    local from = ws.current and 'in this session' or 'from the next session on'
    rpc.say(('%s, %s'):format(isolated[isolation], from)) -- a narrow screen cuts the end
    vim.cmd.redrawstatus({ bang = true })
  end)
end

--- Sets what the agent may do, in the current session or in the next one.
--- @param key 'sandbox'|'autoReview'|'addDirs'
--- @param value any
--- @param about string the setting in words
local function permit(ws, key, value, about)
  local session = ws:session()
  if not session then
    ws.next_permits[key] = value
    rpc.say(about .. ' (next session)')
    return vim.cmd.redrawstatus({ bang = true })
  end
  rpc.request('session/update', { sessionId = session.id, [key] = value }, function(err)
    if err then
      rpc.say_error(err)
    else
      rpc.say(about .. ' (this session)')
    end
  end)
end

local permits = {
  sandbox = {
    prompt = 'Commands of the agent: ',
    { 'enabled', 'enabled', 'only commands that the sandbox can hold run' },
    { 'disabled', 'disabled', 'there is no sandbox for commands' },
    { 'default', 'default', 'the sandbox is as configured' },
  },
  autoReview = {
    prompt = 'What would be denied: ',
    { 'on', true, 'a classifier of the agent decides on commands' },
    { 'off', false, 'no classifier decides on commands' },
  },
}

--- @param key 'sandbox'|'autoReview'
--- @return string[]
function M.permit_choices(key)
  return vim.tbl_map(function(choice)
    return choice[1]
  end, { unpack(permits[key]) })
end

--- Chooses whether commands run in the agent's sandbox, or whether a classifier decides about them.
--- @param ws cursord.Workspace
--- @param key 'sandbox'|'autoReview'
--- @param name? string
function M.permit(ws, key, name)
  if not name then
    local choose = {
      prompt = permits[key].prompt,
      format_item = function(choice)
        return ('%s: %s'):format(choice[1], choice[3])
      end,
    }
    return vim.ui.select({ unpack(permits[key]) }, choose, function(choice)
      if choice then
        M.permit(ws, key, choice[1])
      end
    end)
  end
  for _, choice in ipairs(permits[key]) do
    if choice[1] == name then
      return ws:choose(function()
        permit(ws, key, choice[2], choice[3])
      end)
    end
  end
  local names = table.concat(M.permit_choices(key), ', ')
  rpc.say(('%q is none of %s'):format(name, names), vim.log.levels.ERROR)
end

--- Lets the agent work in one more folder beside the workspace; with an empty list, in none of them.
--- @param ws cursord.Workspace
--- @param dir? string
--- @param none boolean
function M.add_dir(ws, dir, none)
  if none then
    return ws:choose(function()
      permit(ws, 'addDirs', {}, 'the agent works in no other folder')
    end)
  elseif not dir then
    local ask = { prompt = 'The agent may also work in: ', completion = 'dir' }
    return vim.ui.input(ask, function(answer)
      if answer and answer ~= '' then
        M.add_dir(ws, answer, false)
      end
    end)
  end
  dir = vim.fs.normalize(vim.fn.fnamemodify(vim.fn.expand(dir), ':p'))
  dir = #dir > 1 and dir:gsub('/+$', '') or dir
  local real = vim.uv.fs_realpath(dir)
  if not real or vim.fn.isdirectory(real) == 0 then
    return rpc.say(('%s is no folder'):format(dir), vim.log.levels.ERROR)
  elseif vim.startswith(real .. '/', ws.root:gsub('/$', '') .. '/') then
    return rpc.say(('the agent works in %s anyway: it is in the workspace'):format(dir))
  end
  ws:choose(function()
    local session = ws:session()
    local dirs = session and session.addDirs or ws.next_permits.addDirs or {}
    permit(
      ws,
      'addDirs',
      vim.list_extend(vim.list_extend({}, dirs), { dir }),
      ('once you trust it, the agent may also work in %s, where nothing can be rejected'):format(
        dir
      )
    )
  end)
end

return M
