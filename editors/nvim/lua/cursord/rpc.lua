--- The connection to the daemon: a child process, "cursord stdio".
local config = require('cursord.config')
local wording = require('cursord.wording')

local M = {}

local protocol_version = 1
local retry_first, retry_most, retry_times = 100, 5000, 8

--- @class cursord.Error
--- @field code integer
--- @field message string
--- @field data? { kind?: string, hint?: string, field?: string, diff?: cursord.Diff }

--- @alias cursord.Callback fun(err?: cursord.Error, result?: any)

--- @class (exact) cursord.Connection
--- @field client vim.lsp.rpc.PublicClient
--- @field waiting table<integer, cursord.Callback>
--- @field calls integer
--- @field closing? boolean

local connection --- @type cursord.Connection?
local failures = 0 -- in a row

--- The daemon's name for itself, from its answer to initialize.
--- @type { version?: string, agent?: { state: string, version?: string } }
M.server = {}

--- Set by workspace.lua. up is called after each connect; down is called after each loss, and returns whether to connect
--- again.
M.on = {
  notification = function(_, _) end,
  up = function() end,
  down = function()
    return false
  end,
}

M.say = require('cursord.message').say

--- @param err cursord.Error
function M.say_error(err)
  M.say(wording.error(err.message, err.data and err.data.hint), vim.log.levels.ERROR)
end

local function lost(kind, message)
  return { code = -32000, message = message, data = { kind = kind } }
end

--- @param gone cursord.Connection
local function ended(gone, code)
  if connection == gone then
    connection = nil
  end
  M.server = {}
  local waiting = gone.waiting
  gone.waiting = {}
  for _, callback in pairs(waiting) do
    callback(lost('disconnected', 'the connection to the daemon was lost; try again'))
  end
  if gone.closing or not M.on.down() then
    return
  end
  failures = failures + 1
  if failures > retry_times then
    failures = 0
    M.say(
      ('%q ended with status %s again and again; see :checkhealth cursord'):format(
        config.get().bin,
        code
      ),
      vim.log.levels.ERROR
    )
    return
  end
  vim.defer_fn(M.start, math.min(retry_first * 2 ^ (failures - 1), retry_most))
end

--- Removes vim.NIL, which newer Neovims have for null. Only the outer levels of messages have null.
local function without_null(value, depth)
  for key, inner in pairs(value) do
    if inner == vim.NIL then
      value[key] = nil
    elseif depth > 1 and type(inner) == 'table' then
      without_null(inner, depth - 1)
    end
  end
  return value
end

local depth_of_null = 3

local function missing(bin)
  return ('%q is not executable. Install cursord ("make install" in its repository), or set vim.g.cursord.bin'):format(
    bin
  )
end

--- Connects if there is no connection.
--- @return cursord.Connection?
function M.start()
  if connection then
    return connection
  end
  local bin = vim.fn.expand(config.get().bin)
  if vim.fn.executable(bin) == 0 then
    M.say(missing(bin), vim.log.levels.ERROR)
    return nil
  end
  --- @type cursord.Connection
  local new = { waiting = {}, calls = 0 }
  local ok, client = pcall(vim.lsp.rpc.start, { bin, 'stdio' }, {
    notification = function(method, params)
      if connection == new then
        M.on.notification(method, without_null(params or {}, depth_of_null))
      end
    end,
    server_request = function()
      return nil, { code = -32601, message = 'a client answers no requests' }
    end,
    on_error = function(kind, err)
      M.say(('bad message (%s): %s'):format(kind, vim.inspect(err)), vim.log.levels.ERROR)
    end,
    on_exit = vim.schedule_wrap(function(code)
      ended(new, code)
    end),
  })
  if not ok or not client then
    M.say(('%q cannot be started: %s'):format(bin, client), vim.log.levels.ERROR)
    return nil
  end
  new.client = client
  connection = new
  M.request('initialize', {
    processId = vim.uv.os_getpid(),
    clientInfo = { name = 'Neovim', version = tostring(vim.version()) },
    protocolVersion = protocol_version,
  }, function(err, result)
    if err then
      if not new.closing and err.data and err.data.kind ~= 'disconnected' then
        M.say_error(err)
        M.say(
          'plugin and program do not fit: run "cursord editor install nvim", or update both',
          vim.log.levels.ERROR
        )
        M.stop()
      end
      return
    end
    failures = 0
    M.server = { version = result.serverInfo.version, agent = result.agent }
  end)
  M.notify('initialized', vim.empty_dict())
  M.on.up()
  return connection
end

--- @return boolean
function M.connected()
  return connection ~= nil
end

--- Sends a request. The callback is always called, and always after this function has returned.
--- @param method string
--- @param params table
--- @param callback? cursord.Callback
function M.request(method, params, callback)
  callback = callback or function(err)
    if err then
      M.say_error(err)
    end
  end
  local to = M.start()
  if not to then
    vim.schedule(function()
      callback(lost('disconnected', 'there is no connection to the daemon'))
    end)
    return
  end
  to.calls = to.calls + 1
  local call = to.calls
  to.waiting[call] = callback
  local sent = to.client.request(method, params, function(err, result)
    if to.waiting[call] then
      to.waiting[call] = nil
      if err == vim.NIL then
        err = nil
      end
      callback(err, type(result) == 'table' and without_null(result, depth_of_null) or {})
    end
  end)
  if not sent then
    vim.schedule(function()
      if to.waiting[call] then
        to.waiting[call] = nil
        callback(lost('disconnected', 'the connection to the daemon was lost; try again'))
      end
    end)
  end
end

--- @param method string
--- @param params table
function M.notify(method, params)
  if connection then
    connection.client.notify(method, params)
  end
end

--- Closes the connection. The daemon and its turns go on.
function M.stop()
  if connection then
    connection.closing = true
    connection.client.terminate()
    connection = nil
  end
end

return M
