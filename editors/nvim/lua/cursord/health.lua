--- :checkhealth cursord
local config = require('cursord.config')
local counts = require('cursord.review.counts')
local rpc = require('cursord.rpc')
local workspace = require('cursord.workspace')

local M = {}

local health = vim.health
local patience = 60000 -- cursor-agent may ask its server

--- Sends a request and waits for the answer.
local function ask(method, params)
  local answer, failed
  rpc.request(method, params or vim.empty_dict(), function(err, result)
    answer, failed = result or {}, err
  end)
  if not vim.wait(patience, function()
    return answer ~= nil
  end, 10) then
    return nil, 'no answer within a minute'
  end
  return not failed and answer or nil, failed and failed.message
end

local function check_config()
  health.start('cursord: configuration')
  local problems = config.problems()
  for _, problem in ipairs(problems) do
    health.warn('vim.g.cursord: ' .. problem)
  end
  if #problems == 0 then
    health.ok('vim.g.cursord')
  end
  if not vim.o.autoread then
    health.info("'autoread' is off; cursord brings buffers under review up to date all the same")
  end
end

local function check_program()
  health.start('cursord: program')
  if vim.fn.has('nvim-0.10') == 0 then
    health.error('Neovim 0.10 or newer is needed')
  else
    health.ok('Neovim ' .. tostring(vim.version()))
  end
  local bin = vim.fn.expand(config.get().bin)
  if vim.fn.executable(bin) == 0 then
    health.error(('%q is not executable'):format(bin), {
      'install it: "make install" in cursord\'s repository',
      'or set vim.g.cursord = { bin = "/path/to/cursord" }',
    })
    return false
  end
  health.ok(('%s (%s)'):format(vim.fn.exepath(bin), vim.trim(vim.fn.system({ bin, 'version' }))))
  return true
end

local function check_daemon()
  health.start('cursord: daemon')
  local status, err = ask('daemon/status')
  if not status then
    health.error('the daemon does not answer: ' .. tostring(err), { 'run "cursord doctor"' })
    return
  end
  health.ok(
    ('connected: %s, process %s, %s, %s running'):format(
      status.version == 'dev' and 'a development build' or 'version ' .. status.version,
      status.pid,
      counts.count(status.clients, 'client'),
      counts.count(status.turns.running, 'turn')
    )
  )
  health.info('socket: ' .. status.socket)
  health.info('database: ' .. status.database)
  local agent, why = ask('agent/status')
  if not agent then
    health.error('cursor-agent: ' .. tostring(why))
  elseif agent.state == 'ready' then
    health.ok(
      ('cursor-agent %s at %s%s'):format(
        agent.version or '',
        agent.path or '?',
        agent.account and ', ' .. agent.account or ''
      )
    )
  elseif agent.state == 'notLoggedIn' then
    health.error(
      'cursor-agent is not logged in',
      { agent.message or 'run "cursor-agent login", or set CURSOR_API_KEY' }
    )
  else
    health.error('cursor-agent: ' .. (agent.message or agent.state), { 'see "cursord doctor"' })
  end
end

local function check_workspaces()
  health.start('cursord: workspaces')
  if vim.fn.executable('git') == 0 then
    health.warn('git is not there: changes by shell commands of the agent are reviewed less well')
  end
  local some = false
  local list = ask('workspace/list') or { workspaces = {} }
  for _, of in ipairs(list.workspaces) do
    if workspace.at(of.workspace) then
      some = true
      local text = ('%s: %s, %s to review'):format(
        of.workspace,
        counts.count(of.sessions, 'session'),
        counts.count(of.pendingHunks, 'hunk')
      )
      if of.trusted then
        health.ok(text)
      else
        health.warn(text .. '; not trusted', { 'run ":Cursord trust" there' })
      end
    end
  end
  if not some then
    health.info('none in use; it would be ' .. workspace.root_of(vim.api.nvim_get_current_buf()))
  end
end

local function check_maps()
  health.start('cursord: maps')
  local found = 0
  for _, mode in ipairs({ 'n', 'x', 'o' }) do
    for _, map in ipairs(vim.api.nvim_get_keymap(mode)) do
      if map.rhs and map.rhs:find('<Plug>(cursord-', 1, true) then
        found = found + 1
        if #map.lhs == 1 then
          health.warn(('%s in mode %s hides the built-in'):format(map.lhs, mode))
        end
      end
    end
  end
  health.info(
    found == 0 and 'none yet; |cursord-maps| has suggestions'
      or counts.count(found, 'map') .. ' of yours'
  )
end

--- Runs the checks.
function M.check()
  check_config()
  if check_program() then
    check_daemon()
    check_workspaces()
  end
  check_maps()
end

return M
