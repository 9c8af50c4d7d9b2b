--- The context of a prompt: tokens in its text, such as @buffer and @src/main.go.
local api = vim.api
local M = {}

--- @class cursord.Origin
--- @field buf integer the file that the person was in
--- @field selection? { first: integer, last: integer, text: string } rows from 0; last is included

--- @param buf integer
local function relative(ws, buf)
  local name = vim.uv.fs_realpath(api.nvim_buf_get_name(buf)) or api.nvim_buf_get_name(buf)
  return vim.startswith(name, ws.root .. '/') and name:sub(#ws.root + 2) or name
end

local function is_file(buf)
  return api.nvim_buf_is_loaded(buf)
    and vim.bo[buf].buftype == ''
    and api.nvim_buf_get_name(buf) ~= ''
end

--- The file that the person is in. In another window: the file that the person was in last.
--- @return integer?
function M.file_buffer()
  local buf = api.nvim_get_current_buf()
  if is_file(buf) then
    return buf
  end
  local wins =
    vim.list_extend({ vim.fn.win_getid(vim.fn.winnr('#')) }, api.nvim_tabpage_list_wins(0))
  for _, win in ipairs(wins) do
    if win ~= 0 and is_file(api.nvim_win_get_buf(win)) then
      return api.nvim_win_get_buf(win)
    end
  end
end

--- @param buf integer
--- @param first integer row from 0
--- @param last integer row from 0, included
--- @return { first: integer, last: integer, text: string }
function M.lines(buf, first, last)
  local lines = api.nvim_buf_get_lines(buf, first, last + 1, false)
  return { first = first, last = last, text = table.concat(lines, '\n') }
end

--- The rows of the last visual selection in a buffer.
local function last_selection(buf)
  local from, to = api.nvim_buf_get_mark(buf, '<'), api.nvim_buf_get_mark(buf, '>')
  if from[1] > 0 and to[1] >= from[1] and to[1] <= api.nvim_buf_line_count(buf) then
    return M.lines(buf, from[1] - 1, to[1] - 1)
  end
end

local function range(first, last)
  return { start = { line = first, character = 0 }, ['end'] = { line = last + 1, character = 0 } }
end

--- @type table<string, { about: string, get: fun(ws: cursord.Workspace, origin: cursord.Origin): table?, string? }>
local tokens = {
  buffer = {
    about = 'the file that you are in, as it is in its buffer',
    get = function(ws, origin)
      local path = relative(ws, origin.buf)
      if vim.bo[origin.buf].modified then
        return {
          kind = 'text',
          title = path .. ' (not saved)',
          text = require('cursord.lines').text(origin.buf),
        }
      end
      return { kind = 'file', path = path }
    end,
  },
  selection = {
    about = 'the last visual selection',
    get = function(ws, origin)
      local s = origin.selection or last_selection(origin.buf)
      if not s then
        return nil, 'nothing has been selected'
      end
      return {
        kind = 'selection',
        path = relative(ws, origin.buf),
        range = range(s.first, s.last),
        text = s.text,
      }
    end,
  },
  diagnostics = {
    about = 'diagnostics of the file that you are in',
    get = function(ws, origin)
      local items = {}
      for _, d in ipairs(vim.diagnostic.get(origin.buf)) do
        items[#items + 1] = {
          range = {
            start = { line = d.lnum, character = d.col },
            ['end'] = { line = d.end_lnum or d.lnum, character = d.end_col or d.col },
          },
          severity = d.severity,
          message = d.message,
          source = d.source,
        }
      end
      if #items == 0 then
        return nil, 'there are no diagnostics'
      end
      return { kind = 'diagnostics', path = relative(ws, origin.buf), items = items }
    end,
  },
  quickfix = {
    about = 'the quickfix list',
    get = function()
      local lines = {}
      for _, e in ipairs(vim.fn.getqflist()) do
        local name = e.bufnr > 0 and vim.fn.bufname(e.bufnr) or ''
        lines[#lines + 1] = e.valid == 1 and ('%s:%d:%d: %s'):format(name, e.lnum, e.col, e.text)
          or e.text
      end
      if #lines == 0 then
        return nil, 'the quickfix list is empty'
      end
      return { kind = 'text', title = 'quickfix list', text = table.concat(lines, '\n') }
    end,
  },
  diff = {
    about = 'what is to be reviewed, as a patch',
    get = function(ws)
      local lines = {}
      for _, path in ipairs(require('cursord.review.nav').paths(ws)) do
        local diff = ws.diffs[path]
        lines[#lines + 1] = ('--- %s (%s)'):format(path, diff.kind)
        for _, h in ipairs(diff.hunks) do
          lines[#lines + 1] = ('@@ -%d,%d +%d,%d @@'):format(
            h.oldStart,
            h.oldLines,
            h.newStart,
            h.newLines
          )
          vim.list_extend(lines, h.lines)
        end
      end
      if #lines == 0 then
        return nil, 'there is nothing to review'
      end
      return { kind = 'text', title = 'changes under review', text = table.concat(lines, '\n') }
    end,
  },
}

--- Collects the context that a prompt's tokens name. Words with "@" that are neither tokens nor files stay text.
--- @param ws cursord.Workspace
--- @param prompt string
--- @param origin? cursord.Origin
--- @return table[] context
--- @return string[] problems
function M.expand(ws, prompt, origin)
  local context, problems, seen = {}, {}, {}
  for word in (' ' .. prompt):gmatch('%s@([^%s]+)') do
    local name = word:gsub('[,;:%.%)%?!]+$', '')
    if not seen[name] then
      seen[name] = true
      local token = tokens[name]
      if token then
        local one, problem
        if origin or name == 'quickfix' or name == 'diff' then
          one, problem = token.get(ws, origin or {})
        else
          problem = 'there is no file'
        end
        context[#context + 1] = one
        if problem then
          problems[#problems + 1] = ('@%s: %s'):format(name, problem)
        end
      else
        local path, first, last = name:match('^(.-):(%d+)%-?(%d*)$')
        path = path or name
        if
          not first
          and require('cursord.images').is_image(path)
          and vim.uv.fs_stat(vim.fs.joinpath(ws.root, path))
        then
          context[#context + 1] = { kind = 'image', path = path }
        elseif vim.uv.fs_stat(vim.fs.joinpath(ws.root, path)) then
          local from = tonumber(first)
          context[#context + 1] = {
            kind = 'file',
            path = path,
            range = from and range(from - 1, (tonumber(last) or from) - 1) or nil,
          }
        end
      end
    end
  end
  return context, problems
end

--- The token that makes a context of this kind.
--- @param one cursord.Sent
--- @return string
local function token_of(one)
  if one.kind == 'text' then
    return one.title == 'quickfix list' and 'quickfix'
      or one.title == 'changes under review' and 'diff'
      or 'buffer'
  end
  return one.kind == 'file' and not one.range and 'buffer' or one.kind
end

--- What went with a turn's prompt, without what the prompt's own words name again.
--- @param ws cursord.Workspace
--- @param turn cursord.Turn
--- @return cursord.Sent[]
--- @return boolean # whether a text was too long to be kept
function M.again(ws, turn)
  local named, out, lost = M.expand(ws, turn.prompt), {}, false
  for _, one in ipairs(turn.context or {}) do
    local token = '%s@' .. token_of(one) .. '%p*%s'
    local is_named = (' ' .. turn.prompt .. ' '):find(token) ~= nil
    for _, other in ipairs(named) do
      is_named = is_named or vim.deep_equal(one, other)
    end
    if not is_named and (one.kind == 'selection' or one.kind == 'text') and not one.text then
      lost = true
    elseif not is_named then
      out[#out + 1] = one
    end
  end
  return out, lost
end

--- What went with a turn's prompt, also what its words name, and its images.
--- @param turn cursord.Turn
--- @return table[]
--- @return boolean # whether a text was too long to be kept
function M.all(turn)
  local out, lost = {}, false
  for _, one in ipairs(turn.context or {}) do
    if (one.kind == 'selection' or one.kind == 'text') and not one.text then
      lost = true
    else
      out[#out + 1] = one
    end
  end
  for _, path in ipairs(turn.images or {}) do
    out[#out + 1] = { kind = 'image', path = path }
  end
  return out, lost
end

--- The words of all tokens, with explanations.
--- @return { word: string, menu: string }[]
function M.tokens()
  return vim.tbl_map(function(name)
    return { word = '@' .. name, menu = tokens[name].about }
  end, vim.fn.sort(vim.tbl_keys(tokens)))
end

return M
