--- A session's transcript: a buffer that grows at its end.
local config = require('cursord.config')
local rpc = require('cursord.rpc')

local api = vim.api
local ns = api.nvim_create_namespace('cursord_chat')

--- Text that comes is put into the buffer at most so often, in milliseconds.
local interval = 40
local page = 300

--- Lines of what folds begin with this.
local bar = '  │ '

--- A block is an item, a prompt, or what is said of a turn's end. It ends where the next one begins.
--- @class cursord.Block
--- @field order string blocks stand in this order
--- @field mark integer at its first line
--- @field gap integer empty lines at its beginning
--- @field compact? boolean no empty line between it and another one of that kind
--- @field prefix string of its lines after the first
--- @field bytes integer of the text that has come, in the buffer or not
--- @field text string[] the pieces of that text, while it grows
--- @field unwritten string[]

--- @class cursord.Transcript
--- @field ws cursord.Workspace
--- @field session? string
--- @field buf integer
--- @field blocks cursord.Block[]
--- @field by_id table<string, cursord.Block>
--- @field turns table<string, string> what orders a turn, by id
--- @field orphans table<string, cursord.Item[]> items whose turn is not known yet
--- @field dirty table<cursord.Block, true>
--- @field timer uv.uv_timer_t
--- @field oldest? string the item in front of which there are more
local Transcript = {}
Transcript.__index = Transcript

local M = {}

local by_session = {} --- @type table<string, cursord.Transcript>

--- @param session string
--- @return cursord.Transcript?
function M.of(session)
  return by_session[session]
end

--- @param ws cursord.Workspace
--- @param session? string
--- @return cursord.Transcript
function M.new(ws, session)
  local buf = api.nvim_create_buf(false, true)
  local self = setmetatable({ ws = ws, buf = buf, timer = assert(vim.uv.new_timer()) }, Transcript)
  self:empty()
  vim.b[buf].cursord_root = ws.root
  for name, value in pairs({
    bufhidden = 'hide',
    swapfile = false,
    modifiable = false,
    undolevels = -1,
  }) do
    vim.bo[buf][name] = value
  end
  if session then
    self:bind(session)
    self:load()
  else
    api.nvim_buf_set_name(buf, ('cursord://chat/new-%d'):format(buf))
  end
  vim.bo[buf].filetype = 'cursord_chat'
  api.nvim_create_autocmd('BufWipeout', {
    buffer = buf,
    callback = function()
      self.timer:stop()
      self.timer:close()
      if self.session and by_session[self.session] == self then
        by_session[self.session] = nil
      end
    end,
  })
  return self
end

--- @param session string
function Transcript:bind(session)
  self.session = session
  by_session[session] = self
  api.nvim_buf_set_name(self.buf, 'cursord://chat/' .. session)
end

function Transcript:empty()
  self.blocks, self.by_id, self.turns, self.orphans = {}, {}, {}, {}
  self.dirty, self.oldest = {}, nil
  if api.nvim_buf_line_count(self.buf) > 1 then
    self:edit(function()
      api.nvim_buf_set_lines(self.buf, 0, -1, false, {})
    end)
  end
  api.nvim_buf_clear_namespace(self.buf, ns, 0, -1)
end

--- Changes the buffer. Windows whose cursor is on the last line stay there; others stay where they are.
function Transcript:edit(change)
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
  vim.bo[buf].modifiable = true
  local ok, err = pcall(change)
  vim.bo[buf].modifiable = false
  vim.bo[buf].modified = false
  local now = api.nvim_buf_line_count(buf)
  for _, win in ipairs(now ~= last and followers or {}) do
    api.nvim_win_set_cursor(win, { now, 0 })
  end
  if not ok then
    error(err, 0)
  end
end

--- @param block cursord.Block
local function row_of(self, block)
  return api.nvim_buf_get_extmark_by_id(self.buf, ns, block.mark, {})[1]
end

--- The row behind a block's last one.
local function end_of(self, block)
  for i = #self.blocks, 1, -1 do
    if self.blocks[i] == block then
      local after = self.blocks[i + 1]
      return after and row_of(self, after) or api.nvim_buf_line_count(self.buf)
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

--- Colours the icon and the title of what folds.
local function colour(self, row)
  local line = api.nvim_buf_get_lines(self.buf, row, row + 1, false)[1] or ''
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

--- How many empty lines there are between two blocks.
local function gap_between(before, block)
  return before and not (before.compact and block.compact) and 1 or 0
end

--- Puts a block in its place.
--- @param id string
--- @param order string
--- @param lines string[]
--- @param compact? boolean no empty line in front of it if its neighbour is compact, too
--- @return cursord.Block
function Transcript:insert(id, order, lines, compact)
  local at = #self.blocks + 1
  while at > 1 and self.blocks[at - 1].order > order do
    at = at - 1
  end
  local before, after = self.blocks[at - 1], self.blocks[at]
  local gap = gap_between(before, { compact = compact })
  local row = after and row_of(self, after) or before and api.nvim_buf_line_count(self.buf) or 0
  local text = gap == 1 and vim.list_extend({ '' }, lines) or vim.list_extend({}, lines)
  local block = {
    order = order,
    gap = gap,
    compact = compact,
    prefix = '',
    bytes = 0,
    text = {},
    unwritten = {},
  }
  self:edit(function()
    api.nvim_buf_set_lines(self.buf, row, (before or after) and row or -1, false, text)
    block.mark = api.nvim_buf_set_extmark(self.buf, ns, row, 0, {})
    colour(self, row + gap)
    -- What is behind has another neighbour now.
    if after and after.gap ~= gap_between(block, after) then
      local there = row_of(self, after)
      local lines_of_gap = after.gap == 0 and { '' } or {}
      api.nvim_buf_set_lines(self.buf, there, there + after.gap, false, lines_of_gap)
      after.gap = 1 - after.gap
      api.nvim_buf_set_extmark(self.buf, ns, there, 0, { id = after.mark })
    end
  end)
  table.insert(self.blocks, at, block)
  self.by_id[id] = block
  return block
end

--- @param block cursord.Block
--- @param lines string[]
function Transcript:replace(block, lines)
  local row, last = row_of(self, block), end_of(self, block)
  local first = row + block.gap
  if vim.deep_equal(api.nvim_buf_get_lines(self.buf, first, last, false), lines) then
    return
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
end

--- Puts what has come into the buffer.
function Transcript:flush()
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
    end
  end)
end

--- @param block cursord.Block
--- @param text string
function Transcript:append(block, text)
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

--- Makes text all that a growing block says.
local function set_text(self, block, head, text)
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

local function indented(text)
  return vim.tbl_map(function(line)
    return bar .. line
  end, vim.split(text, '\n', { plain = true }))
end

local tool_icons = { running = '◌', completed = '✓' }
local todo_icons = { completed = '[x]', in_progress = '[~]', cancelled = '[-]' }

--- @param item cursord.Item
--- @param root string what paths are shown relative to
--- @return string[]
local function tool_lines(item, root)
  local tool = item.tool --[[@as cursord.Tool]]
  local title = tool.title:gsub('%s*\n.*', ' …'):gsub(vim.pesc(root) .. '/', '')
  local head = ('%s %s'):format(tool_icons[item.status] or '✗', title)
  if item.status ~= 'running' and item.status ~= 'completed' then
    head = ('%s (%s)'):format(head, item.status)
  end
  local lines = { head }
  local function add(text)
    text = text and text:gsub('\r', ''):gsub('\n+$', '') or ''
    if text ~= '' then
      vim.list_extend(lines, indented(text))
    end
  end
  if tool.command and tool.command:find('\n') then
    add(tool.command)
  end
  add(tool.output)
  add(tool.error)
  if not tool.error and tool.exitCode and tool.exitCode ~= 0 then
    add('exit status ' .. tool.exitCode)
  end
  for _, todo in ipairs(tool.todos or {}) do
    add(('%s %s'):format(todo_icons[todo.status] or '[ ]', todo.content))
  end
  return lines
end

local function item_order(self, item)
  return ('%s %08d'):format(self.turns[item.turnId], item.index)
end

--- @type table<string, { head: string[], prefix: string, compact?: boolean }>
local texts = {
  assistant = { head = {}, prefix = '' },
  thinking = { head = { '∴ Thinking' }, prefix = bar, compact = true },
  plan = { head = { '### Plan', '' }, prefix = '' },
  notice = { head = {}, prefix = '> ' },
}

--- Takes an item as it is now.
--- @param item cursord.Item
function Transcript:item(item)
  if not self.turns[item.turnId] then
    self.orphans[item.turnId] = self.orphans[item.turnId] or {}
    table.insert(self.orphans[item.turnId], item)
    return
  end
  local block = self.by_id[item.id]
  if item.kind == 'tool' then
    if block then
      self:replace(block, tool_lines(item, self.ws.root))
    else
      self:insert(item.id, item_order(self, item), tool_lines(item, self.ws.root), true)
    end
    return
  end
  local form = texts[item.kind]
  if not block then
    local lines = vim.list_extend({}, form.head)
    lines[#lines + 1] = form.prefix
    block = self:insert(item.id, item_order(self, item), lines, form.compact)
    block.prefix = form.prefix
  end
  set_text(self, block, form.head, item.text or '')
end

--- Takes a piece of an item's text.
--- @param delta { itemId: string, offset: integer, text: string }
function Transcript:delta(delta)
  local block = self.by_id[delta.itemId]
  local have = block and block.bytes or 0
  if block and delta.offset <= have then
    self:append(block, delta.text:sub(have - delta.offset + 1))
    return
  end
  rpc.request('item/read', { itemId = delta.itemId }, function(err, result)
    if not err then
      self:item(result.item)
    end
  end)
end

local notes = {
  queued = 'waiting for its turn',
  running = 'working',
  failed = 'failed',
  cancelled = 'cancelled',
  interrupted = 'interrupted',
}

--- Takes a turn as it is now.
--- @param turn cursord.Turn
function Transcript:turn(turn)
  local order = ('%s %s'):format(turn.createdAt, turn.id)
  local head = self.by_id[turn.id]
  if not head then
    self.turns[turn.id] = order
    local lines = vim.split(turn.prompt, '\n', { plain = true })
    self:insert('prompt ' .. turn.id, order .. ' !', vim.list_extend({ '## You', '' }, lines))
    head = self:insert(turn.id, order .. ' "', { '## Cursor' })
    for _, item in ipairs(self.orphans[turn.id] or {}) do
      self:item(item)
    end
    self.orphans[turn.id] = nil
  end
  local row = row_of(self, head) + head.gap
  head.note = api.nvim_buf_set_extmark(self.buf, ns, row, 0, {
    id = head.note,
    virt_text = notes[turn.status] and { { notes[turn.status], 'CursordNote' } } or nil,
  })
  if turn.error and not self.by_id['end ' .. turn.id] then
    local lines = vim.split(turn.error.message, '\n', { plain = true })
    vim.list_extend(
      lines,
      turn.error.hint and vim.split(turn.error.hint, '\n', { plain = true }) or {}
    )
    lines[1] = '**' .. lines[1] .. '**'
    lines = vim.tbl_map(function(line)
      return '> ' .. line
    end, lines)
    self:insert('end ' .. turn.id, order .. ' ~', lines)
  end
end

--- Reads the transcript, or what is in front of it.
--- @param before? string an item
function Transcript:load(before)
  rpc.request(
    'session/read',
    { sessionId = self.session, before = before, limit = page },
    function(err, result)
      if err then
        rpc.say_error(err)
        return
      end
      for _, turn in ipairs(result.turns) do
        self:turn(turn)
      end
      for _, item in ipairs(result.items) do
        self:item(item)
      end
      self:flush()
      self.oldest = result.more and result.items[1] and result.items[1].id or nil
      if self.oldest then
        rpc.say('there is more: "gp" reads older messages')
      end
    end
  )
end

--- Reads older messages, if there are some.
function Transcript:older()
  if self.oldest then
    self:load(self.oldest)
  else
    rpc.say('this is the beginning')
  end
end

--- Drops what is shown and reads it again.
function Transcript:reload()
  self:empty()
  if self.session then
    self:load()
  end
end

return M
