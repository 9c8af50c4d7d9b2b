--- Connects to a workspace with something to review, or in which an agent works, before any command.
local config = require('cursord.config')
local workspace = require('cursord.workspace')

local M = {}

--- How long an answer stays valid, and the timeout of the program, in milliseconds.
local holds, patience = 5000, 10000

--- The same for writes, which wait.
local write_holds, write_patience = 200, 1000

local asked, asked_by_write --- @type number?, number?
local asking, slow = false, false
local pending = {} --- @type table<string, true> such workspaces, by their folders

--- Connects if a buffer's workspace is such a one.
--- @param buf integer
local function open(buf)
  if vim.api.nvim_buf_is_loaded(buf) and pending[workspace.root_of(buf)] then
    workspace.open(buf)
  end
end

--- Takes the program's answer: the folders of these workspaces.
--- @param out string
local function take(out)
  local ok, answer = pcall(vim.json.decode, out)
  pending = {}
  for _, root in ipairs(ok and type(answer) == 'table' and answer or {}) do
    pending[root] = true
  end
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.bo[buf].buftype == '' and vim.api.nvim_buf_get_name(buf) ~= '' then
      open(buf)
    end
  end
end

--- Whether the program has been asked and has answered.
--- @return boolean
function M.answered()
  return asked ~= nil
end

--- Whether a buffer has a file of which nothing is known.
--- @param buf integer
local function is_unknown(buf)
  return vim.bo[buf].buftype == '' and not workspace.find(buf) and config.get().review.on_open
end

--- Runs the program; nil if it cannot be started.
--- @param done? fun(result: vim.SystemCompleted)
--- @return vim.SystemObj?
local function ask(done)
  local bin = vim.fn.expand(config.get().bin)
  if vim.fn.executable(bin) == 0 then
    return nil
  end
  local command = { bin, 'workspaces', '--pending', '--json' }
  local ok, running = pcall(vim.system, command, { text = true, timeout = patience }, done)
  return ok and running or nil
end

--- @param result vim.SystemCompleted
local function answer(result)
  asked, slow = vim.uv.now(), false
  if result.code == 0 then
    take(result.stdout or '')
  end
end

--- Asks the program whether the workspace of a file is such a one. No daemon is started. One answer serves all files that
--- are opened at about the same time.
--- @param buf integer
--- @param now? boolean an earlier answer does not do
function M.look(buf, now)
  if not is_unknown(buf) then
    return
  elseif not now and asked and vim.uv.now() - asked < holds then
    return open(buf)
  elseif not asking then
    asking = ask(vim.schedule_wrap(function(result)
      asking = false
      answer(result)
    end)) ~= nil
  end
end

--- Connects, before a buffer is written, if its workspace is such a one, and has the daemon know the text: what it hears of later
--- counts as written by the command that an agent runs. The write waits for the program, but not for one that was slow.
--- @param buf integer
function M.before_write(buf)
  if slow or not vim.bo[buf].modified or not is_unknown(buf) then
    return
  elseif asked_by_write and vim.uv.now() - asked_by_write < write_holds then
    open(buf)
  else
    local running = ask()
    local result = running and running:wait(write_patience)
    if not result or result.code == 124 then
      slow = result ~= nil
      return
    end
    answer(result)
    asked_by_write = asked
  end
  local ws = workspace.find(buf)
  if ws then
    slow = not vim.wait(write_patience, function()
      return ws.ready
    end, 2)
    require('cursord.meanwhile').before_first_write(buf)
  end
end

return M
