--- Connects to a workspace with something to review, or in which an agent works, before any command.
local config = require('cursord.config')
local workspace = require('cursord.workspace')

local M = {}

--- How long an answer stays valid, and the timeout of the program, in milliseconds.
local holds, patience = 5000, 10000

local asked --- @type number?
local asking = false
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

--- Asks the program whether the workspace of a file is such a one. No daemon is started. One answer serves all files that
--- are opened at about the same time.
--- @param buf integer
--- @param now? boolean an earlier answer does not do
function M.look(buf, now)
  if vim.bo[buf].buftype ~= '' or workspace.find(buf) or not config.get().review.on_open then
    return
  elseif not now and asked and vim.uv.now() - asked < holds then
    return open(buf)
  end
  local bin = vim.fn.expand(config.get().bin)
  if asking or vim.fn.executable(bin) == 0 then
    return
  end
  asking = true
  local started = pcall(
    vim.system,
    { bin, 'workspaces', '--pending', '--json' },
    { text = true, timeout = patience },
    vim.schedule_wrap(function(result)
      asking, asked = false, vim.uv.now()
      if result.code == 0 then
        take(result.stdout or '')
      end
    end)
  )
  asking = started
end

return M
