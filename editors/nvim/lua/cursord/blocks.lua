--- The chat's buffer as a list of blocks. Each block can grow, wherever it stands.
local config = require('cursord.config')
local folds = require('cursord.folds')
local markdown = require('cursord.markdown')

local api = vim.api
local ns = api.nvim_create_namespace('cursord_chat')

--- The least time between two writes of streamed text to the buffer, in milliseconds.
local interval = 40

--- The time for drawing Markdown at once, in nanoseconds, and the pause between two drawings of a block, as a multiple of the
--- time that one takes.
local draw_most, draw_pause = 20e6, 8

--- A block is an item, a prompt, or the note at a turn's end. It reaches to the next block.
--- @class cursord.Block
--- @field order string the sort key of the block
--- @field mark integer the extmark at its first line
--- @field gap integer the number of empty lines at its beginning
--- @field compact? boolean no empty line stands between two compact blocks
--- @field prefix string the beginning of each line but the first
--- @field bytes integer the length of the received text, written to the buffer or not
--- @field text string[] the pieces of that text, while the block grows
--- @field seq integer of the object that the block shows
--- @field unwritten string[]
--- @field tool? cursord.ToolLines the lines of a tool call
--- @field item? string the id of that tool call
--- @field markdown? cursord.Drawn its text is Markdown

--- @class cursord.Drawn
--- @field conceals boolean the signs of Markdown are hidden
--- @field final integer how many lines are drawn for good
--- @field stale boolean its text has changed since
--- @field after number the time at which it may be drawn again

--- @class cursord.Blocks
--- @field buf integer
--- @field blocks cursord.Block[]
--- @field by_id table<string, cursord.Block>
--- @field dirty table<cursord.Block, true>
--- @field timer uv.uv_timer_t
--- @field drawing? boolean blocks will be drawn soon
local Blocks = { ns = ns }

--- Removes all blocks.
function Blocks:empty()
  self.timer = self.timer or assert(vim.uv.new_timer())
  self.blocks, self.by_id, self.dirty = {}, {}, {}
  if api.nvim_buf_line_count(self.buf) > 1 then
    self:edit(function()
      api.nvim_buf_set_lines(self.buf, 0, -1, false, {})
    end)
  end
  api.nvim_buf_clear_namespace(self.buf, ns, 0, -1)
end

function Blocks:close()
  self.timer:stop()
  self.timer:close()
end

--- Shows the end of a transcript in a window, also of a last line that takes many rows.
--- @param win integer
--- @param buf integer
function Blocks.to_end(win, buf)
  local last = api.nvim_buf_line_count(buf)
  local text = api.nvim_buf_get_lines(buf, last - 1, last, false)[1] or ''
  api.nvim_win_set_cursor(win, { last, #text })
end

--- Changes the buffer. A window whose cursor is on the last line follows; other windows stay where they are.
function Blocks:edit(change)
  local buf = self.buf
  local last = api.nvim_buf_line_count(buf)
  local followers = {}
  if config.get().chat.follow then
    for _, win in ipairs(vim.fn.win_findbuf(buf)) do
      local reading = win == api.nvim_get_current_win() and api.nvim_get_mode().mode ~= 'n'
      if not reading and api.nvim_win_get_cursor(win)[1] == last then
        followers[#followers + 1] = win
      end
    end
  end
  if api.nvim_get_mode().mode:find('^[iR]') then
    folds.by_hand(buf)
  end
  vim.bo[buf].modifiable = true
  local ok, err = pcall(change)
  vim.bo[buf].modifiable = false
  vim.bo[buf].modified = false
  for _, win in ipairs(followers) do
    Blocks.to_end(win, buf)
  end
  if not ok then
    error(err, 0)
  end
end

--- A block's first row.
--- @param block cursord.Block
--- @return integer
function Blocks:row(block)
  return api.nvim_buf_get_extmark_by_id(self.buf, ns, block.mark, {})[1]
end

--- The row after a block's last row.
local function end_of(self, block)
  for i = #self.blocks, 1, -1 do
    if self.blocks[i] == block then
      local after = self.blocks[i + 1]
      return after and self:row(after) or api.nvim_buf_line_count(self.buf)
    end
  end
  error('a block that is not there')
end

local icons = {
  ['◌'] = 'CursordNote',
  ['✓'] = 'CursordChatDone',
  ['✗'] = 'CursordChatFailed',
  ['∴'] = 'CursordNote',
}

--- Colours the icon and the title of a call.
local function colour(self, row)
  local line = api.nvim_buf_get_lines(self.buf, row, row + 1, false)[1] or ''
  if line == '## You' or line == '## Cursor' then
    local opts = { end_col = 2, conceal = '▌', priority = 120 }
    api.nvim_buf_set_extmark(self.buf, ns, row, 0, opts)
    api.nvim_buf_set_extmark(
      self.buf,
      ns,
      row,
      0,
      { end_col = #line, hl_group = 'CursordChatHead' }
    )
  end
  local icon = vim.fn.strcharpart(line, 0, 1)
  if icons[icon] then
    api.nvim_buf_set_extmark(self.buf, ns, row, 0, { end_col = #icon, hl_group = icons[icon] })
    api.nvim_buf_set_extmark(
      self.buf,
      ns,
      row,
      #icon,
      { end_col = #line, hl_group = 'CursordChatTool' }
    )
  end
end

--- The number of empty lines between two blocks.
local function gap_between(before, block)
  return before and not (before.compact and block.compact) and 1 or 0
end

--- Draws the Markdown of blocks that have changed, the latest first, as far as there is time; the others soon.
function Blocks:draw()
  local began, waits = vim.uv.hrtime(), false
  for i = #self.blocks, 1, -1 do
    local block = self.blocks[i]
    local of, now = block.markdown, vim.uv.hrtime()
    if of and of.stale and (now - began > draw_most or now < of.after) then
      waits = true
    elseif of and of.stale then
      local row, last = self:row(block) + block.gap + of.final, end_of(self, block)
      local final, all = markdown.draw(self.buf, row, last, of.conceals, began + draw_most)
      local done = vim.uv.hrtime()
      of.final, of.stale = of.final + final, not all
      of.after, waits = done + draw_pause * (done - now), waits or not all
    end
  end
  if waits and not self.drawing then
    self.drawing = true
    vim.defer_fn(function()
      self.drawing = false
      if api.nvim_buf_is_valid(self.buf) then
        self:draw()
      end
    end, interval)
  end
end

--- Inserts a block at the place that its order gives it.
--- @param id string
--- @param order string
--- @param lines string[]
--- @param compact? boolean no empty line stands between two compact blocks
--- @param drawn? 'text'|'source' its text is Markdown; of a source the signs are seen
--- @return cursord.Block
function Blocks:insert(id, order, lines, compact, drawn)
  local at = #self.blocks + 1
  while at > 1 and self.blocks[at - 1].order > order do
    at = at - 1
  end
  local before, after = self.blocks[at - 1], self.blocks[at]
  local gap = gap_between(before, { compact = compact })
  local row = after and self:row(after) or before and api.nvim_buf_line_count(self.buf) or 0
  local text = gap == 1 and vim.list_extend({ '' }, lines) or vim.list_extend({}, lines)
  local block = {
    order = order,
    gap = gap,
    compact = compact,
    prefix = '',
    bytes = 0,
    text = {},
    unwritten = {},
    seq = 0,
  }
  if drawn and markdown.is_there() then
    block.markdown = { conceals = drawn == 'text', final = 0, stale = true, after = 0 }
  end
  self:edit(function()
    api.nvim_buf_set_lines(self.buf, row, (before or after) and row or -1, false, text)
    block.mark = api.nvim_buf_set_extmark(self.buf, ns, row, 0, {})
    colour(self, row + gap)
    -- The block after this one has another neighbour now.
    if after and after.gap ~= gap_between(block, after) then
      local there = self:row(after)
      local lines_of_gap = after.gap == 0 and { '' } or {}
      api.nvim_buf_set_lines(self.buf, there, there + after.gap, false, lines_of_gap)
      after.gap = 1 - after.gap
      api.nvim_buf_set_extmark(self.buf, ns, there, 0, { id = after.mark })
    end
  end)
  table.insert(self.blocks, at, block)
  self.by_id[id] = block
  self:draw()
  return block
end

--- Removes the blocks whose order begins with a text: those of a turn.
--- @param prefix string
function Blocks:remove(prefix)
  self:flush()
  local first, last --- @type integer?, integer?
  for i, block in ipairs(self.blocks) do
    if vim.startswith(block.order, prefix) then
      first, last = first or i, i
    end
  end
  if not first then
    return
  elseif last - first + 1 == #self.blocks then
    return self:empty()
  end
  local before, after = self.blocks[first - 1], self.blocks[last + 1]
  local row, to = self:row(self.blocks[first]), end_of(self, self.blocks[last])
  if after and not before then
    to, after.gap = to + after.gap, 0
  end
  self:edit(function()
    api.nvim_buf_clear_namespace(self.buf, ns, row, to)
    api.nvim_buf_set_lines(self.buf, row, to, false, {})
    if after then
      api.nvim_buf_set_extmark(self.buf, ns, row, 0, { id = after.mark })
    end
  end)
  require('cursord.windows').fill(self.buf)
  local gone = {} --- @type table<cursord.Block, true>
  for _ = first, last do
    gone[table.remove(self.blocks, first)] = true
  end
  for id, block in pairs(self.by_id) do
    self.by_id[id] = not gone[block] and block or nil
  end
end

--- @param block cursord.Block
--- @param lines string[]
--- @return boolean # whether the lines differ from those before
function Blocks:replace(block, lines)
  local row, last = self:row(block), end_of(self, block)
  local first = row + block.gap
  if vim.deep_equal(api.nvim_buf_get_lines(self.buf, first, last, false), lines) then
    return false
  end
  self:edit(function()
    api.nvim_buf_clear_namespace(self.buf, ns, first + 1, last)
    for _, mark in ipairs(api.nvim_buf_get_extmarks(self.buf, ns, { first, 0 }, { first, -1 }, {})) do
      if mark[1] ~= block.mark then
        api.nvim_buf_del_extmark(self.buf, ns, mark[1])
      end
    end
    api.nvim_buf_set_lines(self.buf, first, last, false, lines)
    api.nvim_buf_set_extmark(self.buf, ns, row, 0, { id = block.mark })
    colour(self, first)
  end)
  if block.markdown then
    block.markdown.stale, block.markdown.final = true, 0
    self:draw()
  end
  return true
end

--- Colours some lines of a block.
--- @param block cursord.Block
--- @param groups table<integer, string> highlight groups, by the line's number in the block
function Blocks:paint(block, groups)
  local first = self:row(block) + block.gap - 1
  for n, group in pairs(groups) do
    local row = first + n
    api.nvim_buf_set_extmark(self.buf, ns, row, #'  │ ', {
      end_row = row + 1,
      end_col = 0,
      hl_group = group,
      hl_eol = group ~= 'CursordRange',
      strict = false,
    })
  end
end

--- The block that contains a row.
--- @param row integer
--- @return cursord.Block?
--- @return integer # the block's first row that is not empty
function Blocks:at(row)
  for i = #self.blocks, 1, -1 do
    local first = self:row(self.blocks[i])
    if first <= row then
      return self.blocks[i], first + self.blocks[i].gap
    end
  end
  return nil, 0
end

--- Writes the received text to the buffer.
function Blocks:flush()
  local dirty = self.dirty
  self.dirty = {}
  if not next(dirty) or not api.nvim_buf_is_valid(self.buf) then
    return
  end
  self:edit(function()
    for block in pairs(dirty) do
      local text = table.concat(block.unwritten)
      block.unwritten = {}
      local lines = vim.split(text, '\n', { plain = true })
      if block.prefix ~= '' then
        for i = 2, #lines do
          lines[i] = block.prefix .. lines[i]
        end
      end
      local row = end_of(self, block) - 1
      api.nvim_buf_set_text(self.buf, row, -1, row, -1, lines)
      if block.markdown then
        block.markdown.stale = true
      end
    end
  end)
  self:draw()
end

--- @param block cursord.Block
--- @param text string
function Blocks:append(block, text)
  if text == '' then
    return
  end
  table.insert(block.unwritten, text)
  table.insert(block.text, text)
  block.bytes = block.bytes + #text
  if not next(self.dirty) then
    self.timer:start(
      interval,
      0,
      vim.schedule_wrap(function()
        self:flush()
      end)
    )
  end
  self.dirty[block] = true
end

--- Replaces the text of a growing block, below its head.
--- @param block cursord.Block
--- @param head string[]
--- @param text string
function Blocks:set(block, head, text)
  self:flush()
  local have = table.concat(block.text)
  if text == have then
    return
  elseif vim.startswith(text, have) then
    self:append(block, text:sub(#have + 1))
    return
  end
  local lines = vim.split(text, '\n', { plain = true })
  for i, line in ipairs(lines) do
    lines[i] = block.prefix .. line
  end
  block.text, block.bytes = { text }, #text
  self:replace(block, vim.list_extend(vim.list_extend({}, head), lines))
end

return Blocks
