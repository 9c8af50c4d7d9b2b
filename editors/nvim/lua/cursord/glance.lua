--- Connects before any command: to each workspace that the daemon knows while one runs, else to those with something to review.
local config = require('cursord.config')
local workspace = require('cursord.workspace')

local M = {}

--- How long an answer stays valid, and the timeout of the program, in milliseconds.
local holds, patience = 5000, 10000

--- The same for writes, which wait.
local write_holds, write_patience = 200, 1000

local asked, asked_by_write --- @type number?, number?
local asking, slow = false, false
local again = nil --- @type integer? a buffer that was to be looked at while the program was asked
local found = {} --- @type table<string, true> such workspaces, by their folders

--- Connects if a buffer's workspace is such a one.
--- @param buf integer
local function open(buf)
  if vim.api.nvim_buf_is_loaded(buf) and found[workspace.root_of(buf)] then
    workspace.open(buf)
  end
end

--- @return integer[] # buffers with files
local function files()
  return vim.tbl_filter(function(buf)
    return vim.bo[buf].buftype == '' and vim.api.nvim_buf_get_name(buf) ~= ''
  end, vim.api.nvim_list_bufs())
end

local watch --- @type uv.uv_fs_event_t?
local watched --- @type string? its folder

--- Has files be looked at if a daemon listens: at once, and when a folder's first session is stored.
--- @param socket string
local function look_again(socket)
  for _, pause in ipairs(vim.uv.fs_stat(socket) and { 0, 1000 } or {}) do
    vim.defer_fn(function()
      for _, buf in ipairs(files()) do
        M.look(buf, 0)
      end
    end, pause)
  end
end

--- Has files be looked at when a daemon begins, and when a folder has got its first session.
--- @param socket string where it listens; until its folder is there, the next one above it is watched
--- @param news? string a file in that folder, which it makes at a first session
local function await(socket, news)
  local dir, name = vim.fs.dirname(socket), vim.fs.basename(socket)
  while not vim.uv.fs_stat(dir) and dir ~= vim.fs.dirname(dir) do
    dir, name = vim.fs.dirname(dir), vim.fs.basename(dir)
  end
  if watched == dir then
    return
  elseif watch then
    watch:close()
  end
  watch, watched = assert(vim.uv.new_fs_event()), dir
  watch:start(
    dir,
    {},
    vim.schedule_wrap(function(_, changed)
      if changed and changed ~= name and changed ~= vim.fs.basename(news or name) then
        return
      end
      await(socket, news)
      look_again(socket)
    end)
  )
  if dir ~= vim.fs.dirname(socket) and vim.uv.fs_stat(vim.fs.joinpath(dir, name)) then
    await(socket, news) -- it came before the watch
    look_again(socket)
  end
end

--- Takes the program's answer: the folders of these workspaces, and where a daemon listens.
--- @param out string
local function take(out)
  local ok, answer = pcall(vim.json.decode, out)
  answer = ok and type(answer) == 'table' and answer or {}
  found = {}
  for _, root in ipairs(answer.folders or {}) do
    found[root] = true
  end
  if answer.socket then
    await(vim.fs.normalize(answer.socket), answer.news and vim.fs.normalize(answer.news))
  end
  vim.tbl_map(open, files())
end

--- Whether the program has been asked and has answered.
--- @return boolean
function M.answered()
  return asked ~= nil
end

--- Whether the program is being asked.
--- @return boolean
function M.is_looking()
  return asking
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
  local command = { bin, 'workspaces', '--for-editors', '--json' }
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
--- @param age? integer how old that answer may be, in milliseconds
function M.look(buf, age)
  if not is_unknown(buf) then
    return
  elseif asked and vim.uv.now() - asked < (age or holds) then
    return open(buf)
  elseif not asking then
    asking = ask(vim.schedule_wrap(function(result)
      asking = false
      answer(result)
      local late = again
      again = nil
      if late and vim.api.nvim_buf_is_loaded(late) then
        M.look(late, 0)
      end
    end)) ~= nil
  elseif age == 0 then
    again = buf -- what has changed meanwhile may be missing in the answer
  end
end

--- Looks when a person begins to change a file, for an agent that was started elsewhere meanwhile.
--- @param buf integer
--- @param began boolean the first change is made
function M.look_at_change(buf, began)
  if vim.bo[buf].modified == began then
    M.look(buf, 0)
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
