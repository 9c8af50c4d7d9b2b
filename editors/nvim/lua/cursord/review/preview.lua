--- A hunk as a patch, in a float.
local api = vim.api
local M = {}

local ns = api.nvim_create_namespace('cursord_preview')
local open --- @type integer? the window

local function close()
  if open and api.nvim_win_is_valid(open) then
    api.nvim_win_close(open, true)
  end
  open = nil
end

local groups = { ['+'] = 'CursordAdd', ['-'] = 'CursordDelete' }

--- Shows a hunk in a float until the cursor moves. A second call moves the cursor into the float; there "q" closes it.
--- @param hunk cursord.Hunk
function M.show(hunk)
  if open and api.nvim_win_is_valid(open) then
    api.nvim_set_current_win(open)
    return
  end
  local from = api.nvim_get_current_buf()
  local tabstop, vartabstop = vim.bo[from].tabstop, vim.bo[from].vartabstop
  local lines = vim.tbl_map(function(line)
    return (line:gsub('\r$', ''):gsub('%z', '\n'))
  end, hunk.lines)
  local buf = api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden, vim.bo[buf].filetype = 'wipe', 'diff'
  vim.bo[buf].tabstop, vim.bo[buf].vartabstop = tabstop, vartabstop
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  local width = 1
  for i, line in ipairs(lines) do
    width = math.max(width, vim.fn.strdisplaywidth(line))
    local group = groups[line:sub(1, 1)]
    if group then
      api.nvim_buf_set_extmark(buf, ns, i - 1, 0, {
        end_row = i,
        end_col = 0,
        hl_group = group,
        hl_eol = true,
        strict = false,
      })
    end
  end
  local above = vim.fn.winline() - 1 > vim.o.lines / 2
  open = api.nvim_open_win(buf, false, {
    relative = 'cursor',
    anchor = above and 'SW' or 'NW',
    row = above and 0 or 1,
    col = 0,
    width = math.min(width, vim.o.columns - 2),
    height = 1,
    style = 'minimal',
    border = 'single',
  })
  vim.wo[open][0].wrap, vim.wo[open][0].linebreak = true, true
  local height = api.nvim_win_text_height(open, {}).all
  api.nvim_win_set_height(open, math.min(height, math.max(math.floor(vim.o.lines / 2) - 3, 1)))
  vim.keymap.set('n', 'q', close, { buffer = buf, nowait = true, desc = 'cursord: close' })
  api.nvim_create_autocmd({ 'CursorMoved', 'CursorMovedI', 'BufHidden', 'InsertCharPre' }, {
    buffer = from,
    once = true,
    callback = function()
      if open ~= api.nvim_get_current_win() then
        close()
      end
    end,
  })
end

return M
