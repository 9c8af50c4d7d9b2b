--- Tool calls as lines of the chat: a title and foldable details. The details of an edit are its patch.
local M = {}

local line_diff = vim.text and vim.text.diff or vim.diff

--- The beginning of foldable lines, and of details that are always seen.
M.bar, M.blank = '  │ ', '    '

--- The most lines of a patch, and of the end of a failed command's output.
local patch_most, tail_most = 300, 3

local tool_icons = { running = '◌', completed = '✓' }
local todo_icons = { completed = '[x]', in_progress = '[~]', cancelled = '[-]' }

--- @class cursord.ToolLines
--- @field lines string[]
--- @field groups table<integer, string> highlight groups, by line number
--- @field rows table<integer, integer> the rows in the file, by line number
--- @field path? string the file
--- @field paths table<integer, string> the files, by line number, if the call does not name one
--- @field cut? integer the daemon has more, by item/read: how many bytes

--- @param text any a member of an edit's report
--- @return string? # nil if the daemon has cut it
local function whole(text)
  return type(text) == 'string' and not text:find('…%(%d+ bytes%)$') and text or nil
end

--- @param tool cursord.Tool
--- @return table? # the report of a successful edit
local function success(tool)
  local result = type(tool.result) == 'table' and tool.result or {}
  if tool.name ~= 'edit' and tool.name ~= 'write' and tool.name ~= 'delete' then
    return nil
  end
  return type(result.success) == 'table' and result.success or result
end

--- How many bytes the daemon has of a text that it has cut.
--- @param text any
--- @return integer
local function cut_from(text)
  return type(text) == 'string' and tonumber(text:match('…%((%d+) bytes%)$')) or 0
end

--- The patch of an edit without file names, empty if it has changed nothing; nil if the agent did not report it.
--- @param of table
--- @return string[]?
--- @return integer? cut
local function patch(of)
  local before, after = of.beforeFullFileContent, of.afterFullFileContent
  before = type(of.prevContent) == 'string' and of.prevContent or before
  before, after = before ~= vim.NIL and before or nil, after ~= vim.NIL and after or nil
  local old, new = whole(before), whole(after)
  local text --- @type string?
  if (before == nil or old) and (after == nil or new) and (old or new) then
    -- As many lines around a change as in the daemon's patch of it, which may come first or later.
    text = line_diff(old or '', new or '', { ctxlen = 3 }) --[[@as string]]
  else
    text = whole(of.diffString)
  end
  local lines = {}
  for _, line in ipairs(text and vim.split(text, '\r?\n') or {}) do
    if line:find('^[-+ @]') and not line:find('^%-%-%- ') and not line:find('^%+%+%+ ') then
      lines[#lines + 1] = line
    end
  end
  if #lines > 0 or old and old == new then
    return lines
  end
  local cut = cut_from(before) + cut_from(after) + cut_from(of.diffString)
  return nil, cut > 0 and cut or nil
end

local groups = { ['+'] = 'CursordAdd', ['-'] = 'CursordDelete', ['@'] = 'CursordRange' }

--- @param added integer
--- @param removed integer
--- @return string # " +5 −3"
local function counts_of(added, removed)
  return added + removed > 0 and (' +%d −%d'):format(added, removed) or ''
end

--- Adds what a call has changed in files, as the daemon has seen it.
--- @param out cursord.ToolLines
--- @param changes cursord.Change[]
--- @return string # " +5 −3"
local function add_changes(out, changes)
  local added, removed, left = 0, 0, patch_most
  local function add(line, path, row)
    left = left - 1
    if left >= 0 then
      out.lines[#out.lines + 1] = M.bar .. line
      out.groups[#out.lines], out.rows[#out.lines] = groups[line:sub(1, 1)], row
      out.paths[#out.lines] = path
    end
  end
  for _, change in ipairs(changes) do
    added, removed = added + change.added, removed + change.removed
    local row = 0
    if not out.path or #changes > 1 then
      add('# ' .. change.path .. counts_of(change.added, change.removed), change.path, row)
    end
    for line in (change.patch or ''):gmatch('([^\n]*)\n') do
      local sign = line:sub(1, 1)
      row = sign == '@' and (tonumber(line:match('%+(%d+)')) or 1) - 1 or row
      if sign ~= '\\' then
        add(line, change.path, row)
      end
      row = row + ((sign == '+' or sign == ' ') and 1 or 0)
    end
    if change.cut then
      add('… and more', change.path, row)
    end
  end
  if left < 0 then
    out.lines[#out.lines + 1] = ('%s… and %d lines more'):format(M.bar, -left)
  end
  return counts_of(added, removed)
end

--- @param out cursord.ToolLines
--- @param item cursord.Item
--- @return string # " +5 −3"
local function add_patch(out, item)
  local tool = item.tool --[[@as cursord.Tool]]
  local of = success(tool)
  out.path = of and tool.paths and tool.paths[1]
  local lines, cut
  if of then
    lines, cut = patch(of)
  end
  if not lines and item.changes then
    return add_changes(out, item.changes)
  elseif not of then
    return ''
  end
  out.cut = cut
  local added, removed, row = 0, 0, 0
  for i, line in ipairs(lines or {}) do
    local sign = line:sub(1, 1)
    added, removed = added + (sign == '+' and 1 or 0), removed + (sign == '-' and 1 or 0)
    row = sign == '@' and (tonumber(line:match('%+(%d+)')) or 1) - 1 or row
    if i <= patch_most then
      out.lines[#out.lines + 1] = M.bar .. line
      out.groups[#out.lines], out.rows[#out.lines] = groups[sign], row
    end
    row = row + ((sign == '+' or sign == ' ') and 1 or 0)
  end
  if lines and #lines > patch_most then
    out.lines[#out.lines + 1] = ('%s… and %d lines more'):format(M.bar, #lines - patch_most)
  elseif cut then
    out.lines[#out.lines + 1] = M.bar .. '… (<Tab> reads it)'
  end
  if lines and #lines == 0 then
    return ' (no change)'
  elseif not lines and not cut then -- else what the agent counts may be all lines of the file
    added, removed = tonumber(of.linesAdded) or 0, tonumber(of.linesRemoved) or 0
  end
  return counts_of(added, removed)
end

--- @param todos { content: string, status: string }[]
--- @return string[]
function M.todos(todos)
  return vim.tbl_map(function(todo)
    local text = todo.content:gsub('%s*\n%s*', ' ')
    return ('%s %s'):format(todo_icons[todo.status] or '[ ]', text)
  end, todos)
end

--- @param item cursord.Item
--- @param root string paths are shown relative to it
--- @return cursord.ToolLines
function M.show(item, root)
  local tool = item.tool --[[@as cursord.Tool]]
  local out = { lines = { '' }, groups = {}, rows = {}, paths = {} } --- @type cursord.ToolLines
  local function add(lines, prefix)
    for _, line in ipairs(lines) do
      out.lines[#out.lines + 1] = (prefix or M.bar) .. line
    end
  end
  local function split(text)
    text = text and text:gsub('\r', ''):gsub('\n+$', '') or ''
    return text ~= '' and vim.split(text, '\n', { plain = true }) or {}
  end
  local counts = add_patch(out, item)
  if tool.command and tool.command:find('\n') then
    add(split(tool.command))
  end
  local status = item.status
  local exit = tool.exitCode and tool.exitCode ~= 0 and status == 'failed' and tool.exitCode
  local output, errors = split(tool.output), split(tool.error)
  if exit then
    -- The end of a failed command's output is always seen.
    status = 'exit status ' .. exit
    errors = errors[1] == 'exit code ' .. exit and {} or errors
    local said = vim.list_extend(vim.list_extend({}, output), errors)
    local folded = math.max(#said - tail_most, 0)
    add(vim.list_slice(said, 1, folded))
    add(vim.list_slice(said, folded + 1), M.blank)
  else
    add((counts == '' or not out.path) and output or {}) -- an edit's says no more than its patch
    add(errors)
  end
  add(M.todos(tool.todos or {}))
  local title = tool.title:gsub('%s*\n.*', ' …'):gsub(vim.pesc(root) .. '/', '')
  local head = ('%s %s%s'):format(tool_icons[item.status] or '✗', title, counts)
  if item.status ~= 'running' and item.status ~= 'completed' then
    local why = item.status == 'rejected' and tool.error and tool.error:match('[^\r\n]+')
    head = ('✗ %s: %s%s%s'):format(status, title, counts, why and ' (' .. why .. ')' or '')
  end
  out.lines[1] = head
  return out
end

return M
