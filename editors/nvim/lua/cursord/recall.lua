--- The earlier prompts that <Up> and <Down> bring into the chat's input: those of the session, and those that this Neovim
--- has sent or tried to send.
local workspace = require('cursord.workspace')

local api = vim.api
local M = {}

--- @class cursord.Recall
--- @field list string[] what this Neovim has sent, the latest last
--- @field full table<string, true> the same as the daemon got them
--- @field walk? { list: string[], at: integer, draft: string } while the input shows an earlier prompt

local recalls = {} --- @type table<integer, cursord.Recall> by buffer

--- @param buf integer
--- @return cursord.Recall
local function recall_of(buf)
  recalls[buf] = recalls[buf] or { list = {}, full = {} }
  return recalls[buf]
end

--- Adds a prompt.
--- @param buf integer an input
--- @param text string
--- @param full string the prompt that is sent: a saved prompt's text instead of its name
function M.remember(buf, text, full)
  local of = recall_of(buf)
  local draft = of.walk and of.walk.draft
  if draft and draft ~= text and vim.trim(draft) ~= '' then
    of.list[#of.list + 1] = draft -- else nothing has it any more
  end
  if of.list[#of.list] ~= text then
    of.list[#of.list + 1] = text
  end
  of.full[full], of.walk = true, nil
end

--- What the person has written: the draft, if the input shows an earlier prompt as it was.
--- @param buf integer
--- @return string
function M.written(buf)
  local text = table.concat(api.nvim_buf_get_lines(buf, 0, -1, false), '\n')
  local walk = recall_of(buf).walk
  return walk and text == walk.list[walk.at] and walk.draft or text
end

--- Notes that the input has another text.
--- @param buf integer
function M.stop(buf)
  recall_of(buf).walk = nil
end

--- @param buf integer
function M.forget(buf)
  recalls[buf] = nil
end

--- All prompts: first those of the session that others have sent, or that were sent before Neovim started.
--- @param buf integer
--- @return string[]
local function all(buf)
  local of, ws, out = recall_of(buf), workspace.find(buf), {}
  local shown = ws and ws.current and require('cursord.transcript').of(ws.current)
  for _, prompt in ipairs(shown and shown:prompts() or {}) do
    if not of.full[prompt] and out[#out] ~= prompt then
      out[#out + 1] = prompt
    end
  end
  return vim.list_extend(out, of.list)
end

--- Recalls an earlier prompt when the cursor is on the first line, or a later one on the last line; else moves the
--- cursor.
--- @param buf integer
--- @param by integer
--- @param key string
--- @return fun()
function M.key(buf, by, key)
  return function()
    local of = recall_of(buf)
    local edge = by < 0 and 1 or api.nvim_buf_line_count(buf)
    local walk = of.walk
    if not walk and by < 0 then
      local draft = table.concat(api.nvim_buf_get_lines(buf, 0, -1, false), '\n')
      local list = all(buf)
      walk = { list = list, at = #list + 1, draft = draft }
    end
    local to = walk and walk.at + by or 0
    if not walk or api.nvim_win_get_cursor(0)[1] ~= edge or to < 1 then
      return api.nvim_feedkeys(vim.keycode(key), 'n', false)
    end
    walk.at = to
    of.walk = to <= #walk.list and walk or nil
    local lines = vim.split(walk.list[to] or walk.draft, '\n', { plain = true })
    api.nvim_buf_set_lines(buf, 0, -1, false, lines)
    local row = by < 0 and 1 or #lines
    api.nvim_win_set_cursor(0, { row, #lines[row] })
  end
end

return M
