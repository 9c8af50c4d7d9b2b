--- Completion in prompts. It never waits: it offers the files that are known, while git lists them anew.
local context = require('cursord.context')
local symbols = require('cursord.symbols')
local workspace = require('cursord.workspace')

local api = vim.api
local M = { own = true } -- whether our own menu opens

--- @class cursord.Files
--- @field list string[]
--- @field at? number when they were listed, in milliseconds
--- @field asking boolean
--- @field waiting fun()[]

local files = {} --- @type table<string, cursord.Files> by root
local files_most, files_age, offered_most = 200000, 10000, 200

--- Lists the files of a folder that is not a git repository.
--- @param root string
--- @return string[]
local function walk(root)
  local list = {}
  for name, kind in vim.fs.dir(root, { depth = 5 }) do
    if kind == 'file' and not name:find('^%.') and not name:find('/%.') then
      list[#list + 1] = name
    end
    if #list >= 20000 then
      break
    end
  end
  return list
end

--- The known files of a workspace. A list that is too old is refreshed in the background.
--- @param root string
--- @param come? fun() called when the list has been refreshed
--- @return string[]
local function files_of(root, come)
  local of = files[root]
  if not of then
    of = { list = {}, asking = false, waiting = {} }
    files[root] = of
  end
  of.waiting[1] = come or of.waiting[1] or function() end
  if of.asking or of.at and vim.uv.now() - of.at < files_age then
    return of.list
  end
  of.asking = true
  local function take(list)
    local first = of.at == nil
    of.list, of.at, of.asking = list, vim.uv.now(), false
    if first then
      of.waiting[1]()
    end
  end
  local git = { 'git', '-C', root, 'ls-files', '-z', '--cached', '--others' }
  vim.list_extend(git, { '--exclude-standard', '--deduplicate' })
  local started = pcall(
    vim.system,
    git,
    { text = false },
    vim.schedule_wrap(function(result)
      if result.code ~= 0 then
        return take(walk(root))
      end
      local list = vim.split(result.stdout, '\0', { plain = true, trimempty = true })
      take(vim.list_slice(list, 1, files_most))
    end)
  )
  if not started then
    vim.schedule(function()
      take(walk(root))
    end)
  end
  return of.list
end

--- Lists the files of a workspace in advance.
--- @param ws cursord.Workspace
function M.prepare(ws)
  files_of(ws.root)
end

--- The most likely files: those under review, then those in buffers.
--- @param ws cursord.Workspace
--- @return string[]
local function likely(ws)
  local out = require('cursord.review.nav').paths(ws)
  for _, buf in ipairs(api.nvim_list_bufs()) do
    local name = api.nvim_buf_get_name(buf)
    if vim.bo[buf].buflisted and vim.bo[buf].buftype == '' and name ~= '' then
      name = vim.uv.fs_realpath(name) or name
      if vim.startswith(name, ws.root .. '/') then
        out[#out + 1] = name:sub(#ws.root + 2)
      end
    end
  end
  return out
end

--- The entries of a list that match, best first.
--- @param list string[]
--- @param want string
local function fitting(list, want)
  return want == '' and list or vim.fn.matchfuzzy(list, want)
end

--- The saved prompts that match.
--- @param want string without its "/"
--- @return { word: string, menu: string }[]
function M.saved(want)
  local ws, about = workspace.find(), {}
  local names = vim.tbl_map(function(saved)
    about[saved.name] = saved.about
    return saved.name
  end, ws and require('cursord.prompts').list(ws.root) or {})
  return vim.tbl_map(function(name)
    return { word = '/' .. name, menu = about[name] }
  end, fitting(names, want))
end

--- The completions of a word that begins with "@": tokens and files. Any letters of a path match, in their order.
--- @param base string with its "@"
--- @param come? fun() called when the list of files has been refreshed
--- @return { word: string, menu: string }[]
function M.items(base, come)
  local want, origin = base:sub(2), context.file_buffer()
  if vim.startswith(base, '/') then
    return M.saved(want)
  end
  local items = vim.tbl_filter(function(item)
    return vim.startswith(item.word, base)
  end, context.tokens())
  local ws = workspace.find()
  local seen, left = {}, offered_most
  if ws then
    vim.list_extend(items, symbols.items(ws.root, origin, want, come))
  end
  for _, list in ipairs(ws and { likely(ws), files_of(ws.root, come) } or {}) do
    for _, path in ipairs(fitting(list, want)) do
      if left == 0 then
        break
      elseif not seen[path] and vim.uv.fs_stat(vim.fs.joinpath(ws.root, path)) then
        seen[path], left = true, left - 1 -- git lists deleted files, too
        items[#items + 1] = { word = '@' .. path, menu = 'file' }
      end
    end
  end
  return items
end

--- Where the word to complete begins: "@…", or "/…" at the beginning of a prompt.
--- @param before string the line in front of the cursor
--- @param row integer from 0
--- @return integer? # the number of bytes before it
function M.start_of(before, row)
  if row == 0 and before:find('^/%S*$') then
    return 0
  end
  local at = before:find('@[^%s@]*$')
  return at and (at == 1 or before:sub(at - 1, at - 1):find('%s')) and at - 1 or nil
end

local function start()
  local at = api.nvim_win_get_cursor(0)
  return M.start_of(api.nvim_get_current_line():sub(1, at[2]), at[1] - 1)
end

--- Completes tokens: 'omnifunc' of the input.
--- @param findstart integer
--- @param base string
function M.omnifunc(findstart, base)
  if findstart == 1 then
    return start() or -3
  end
  return { words = M.items(base), refresh = 'always' }
end

--- Opens the menu of completions for the word before the cursor.
function M.show()
  local at = M.own and api.nvim_get_mode().mode:find('^i') and start()
  if not at or vim.fn.complete_info({ 'selected' }).selected >= 0 then
    return
  end
  local buf = api.nvim_get_current_buf()
  local base = api.nvim_get_current_line():sub(at + 1, api.nvim_win_get_cursor(0)[2])
  local items = M.items(base, function()
    if api.nvim_get_current_buf() == buf then
      M.show()
    end
  end)
  vim.fn.complete(
    at + 1,
    vim.tbl_map(function(item)
      return vim.tbl_extend('force', item, { equal = 1 })
    end, items)
  )
end

--- Completes while the person types in the input. No entry is selected until the person selects one.
--- @param buf integer
function M.attach(buf)
  local before --- @type string?
  local function on(events, callback)
    api.nvim_create_autocmd(events, { buffer = buf, callback = callback })
  end
  on('InsertEnter', function()
    before = before or vim.o.completeopt
    vim.o.completeopt = 'menuone,noinsert,noselect'
    local ws = workspace.find(buf)
    if ws then
      M.prepare(ws)
    end
  end)
  on({ 'InsertLeave', 'BufLeave' }, function()
    if before then
      vim.o.completeopt, before = before, nil
    end
  end)
  on({ 'TextChangedI', 'TextChangedP' }, M.show)
end

return M
