--- Drafts in the chat's input. They outlive Neovim, however it ends: they are on disk a moment after they were typed. A prompt
--- that was taken back belongs to its session: it waits while the chat shows another one.
local images = require('cursord.images')
local recall = require('cursord.recall')

local api = vim.api
local M = {}

local ns = api.nvim_create_namespace('cursord_drafts')

local kept = 'the draft is kept: <Up> shows it'

local text_most = 1024 * 1024

--- The pause in typing after which drafts are written, in milliseconds.
local pause = 1000

--- @class cursord.Drafted what is in an input
--- @field ws cursord.Workspace
--- @field session? string its text is a prompt of this session that was taken back
--- @field draft? string the draft that was there before that, until the prompt is sent

local inputs = {} --- @type table<integer, cursord.Drafted> by buffer
local waiting = {} --- @type table<string, string> prompts of sessions that the chat does not show, by file
local along = {} --- @type table<string, table[]> what goes with them

--- @param root string
--- @param session? string for a prompt that was taken back
--- @return string
local function file_of(root, session)
  local name = vim.fn.sha256(session and root .. '\n' .. session or root)
  return vim.fs.joinpath(vim.fn.stdpath('state'), 'cursord', 'drafts', name)
end

--- @param path string
--- @param text string
local function write(path, text)
  vim.fn.mkdir(vim.fs.dirname(path), 'p', tonumber('700', 8))
  local file = vim.uv.fs_open(path .. '~', 'w', tonumber('600', 8))
  if file then
    vim.uv.fs_write(file, text)
    vim.uv.fs_close(file)
    vim.uv.fs_rename(path .. '~', path)
  end
end

--- The file for a draft while this Neovim lives. Others take it only after that.
--- @param path string
--- @return string
local function live(path)
  return ('%s.%d'):format(path, vim.uv.os_getpid())
end

--- Returns what the last Neovim has left, or one that was killed, which it forgets.
--- @param path string
--- @return string?
local function take(path)
  local left = vim.fn.filereadable(path) == 1 and { path }
    or vim.fn.glob(path .. '.*[0-9]', true, true)
  for _, name in ipairs(left) do
    local pid = tonumber(name:match('%.(%d+)$'))
    local _, _, why = vim.uv.kill(pid or 0, 0)
    local file = (not pid or why == 'ESRCH') and io.open(name, 'rb') or nil
    if file then
      local text = file:read(text_most)
      file:close()
      os.remove(name)
      return text
    end
  end
end

local written = {} --- @type table<string, string> texts in this Neovim's files

--- The drafts and the other prompts that were not sent, by file. A Neovim that a signal ends has unloaded its buffers; then
--- what it has written of them counts.
--- @return table<string, string>
local function present()
  local all = vim.deepcopy(waiting)
  for buf, of in pairs(inputs) do
    local path = file_of(of.ws.root, of.session)
    all[path] = api.nvim_buf_is_loaded(buf) and recall.written(buf) or written[path]
    if of.session then
      all[file_of(of.ws.root)] = of.draft
    end
  end
  for path, text in pairs(all) do
    all[path] = vim.trim(text) ~= '' and #text <= text_most and text or nil
  end
  return all
end

--- Writes what has changed, for the case that Neovim is killed.
local function save()
  local all = present()
  for path in pairs(written) do
    if not all[path] then
      written[path] = nil
      os.remove(live(path))
    end
  end
  for path, text in pairs(all) do
    if written[path] ~= text then
      written[path] = pcall(write, live(path), text) and text or nil
    end
  end
end

local timer --- @type uv.uv_timer_t?

local function save_soon()
  timer = timer or assert(vim.uv.new_timer())
  timer:start(pause, 0, vim.schedule_wrap(save))
end

--- @param buf integer
--- @param text string
local function set(buf, text)
  recall.stop(buf)
  api.nvim_buf_clear_namespace(buf, ns, 0, -1)
  api.nvim_buf_set_lines(buf, 0, -1, false, vim.split(text, '\n', { plain = true }))
  save_soon()
end

local group = api.nvim_create_augroup('cursord_drafts', {})

api.nvim_create_autocmd({ 'FocusLost', 'VimSuspend' }, { group = group, callback = save })

--- Puts the draft that the last Neovim left into an input, and has this one leave its own.
--- @param buf integer
--- @param ws cursord.Workspace
function M.keep(buf, ws)
  for old, of in pairs(inputs) do
    inputs[old] = of.ws ~= ws and of or nil
  end
  inputs[buf] = { ws = ws }
  local function on(events, callback)
    api.nvim_create_autocmd(events, { group = group, buffer = buf, callback = callback })
  end
  on({ 'TextChanged', 'TextChangedI', 'TextChangedP' }, save_soon)
  on({ 'WinLeave', 'BufLeave' }, save)
  local text = take(file_of(ws.root))
  if text then
    set(buf, text)
  end
end

--- Puts a prompt that was taken back into the input. A draft is set aside: it is in the history, and is back when the prompt
--- was sent.
--- @param buf integer
--- @param session string
--- @param prompt string
--- @return string? # says where the draft is
function M.put(buf, session, prompt)
  local of, text = inputs[buf], recall.written(buf)
  local is_draft = vim.trim(text) ~= ''
  if is_draft then
    recall.remember(buf, text, text)
    of.draft = of.session and of.draft or text
  end
  set(buf, prompt)
  of.session = session
  if of.draft then -- the name of the Insert mode overwrites messages
    local lines = { { { kept, 'CursordNote' } } }
    api.nvim_buf_set_extmark(buf, ns, api.nvim_buf_line_count(buf) - 1, 0, { virt_lines = lines })
  end
  return is_draft and kept or nil
end

--- Puts a prompt that was not sent before the draft in the input.
--- @param buf integer
--- @param prompt string
function M.give_back(buf, prompt)
  local draft = table.concat(api.nvim_buf_get_lines(buf, 0, -1, false), '\n')
  set(buf, draft == '' and prompt or prompt .. '\n' .. draft)
end

--- Has an input follow the chat to another session.
--- @param buf integer
--- @param session? string
function M.follow(buf, session)
  local of = inputs[buf]
  if of.session and of.session ~= session then
    local path, text = file_of(of.ws.root, of.session), recall.written(buf)
    waiting[path], along[path] = text, images.take(of.ws)
    set(buf, of.draft or '')
    of.session, of.draft = nil, nil
  end
  local path = session and file_of(of.ws.root, session)
  local text = path and (waiting[path] or take(path))
  if session and path and text then
    if vim.trim(text) ~= '' then
      M.put(buf, session, text)
    end
    images.give_back(of.ws, along[path] or {})
    waiting[path], along[path] = nil, nil
  end
end

--- Puts the draft that was set aside into the input again.
--- @param buf integer
--- @param prompt string what was sent
function M.sent(buf, prompt)
  local of = inputs[buf]
  local draft = of.draft
  of.session, of.draft = nil, nil
  api.nvim_buf_clear_namespace(buf, ns, 0, -1)
  if draft and vim.trim(draft) ~= prompt and vim.trim(recall.written(buf)) == '' then
    set(buf, draft)
  end
  save()
end

api.nvim_create_autocmd('VimLeavePre', {
  group = group,
  callback = function()
    for path in pairs(written) do
      os.remove(live(path))
    end
    for path, text in pairs(present()) do
      pcall(write, path, text)
    end
  end,
})

return M
