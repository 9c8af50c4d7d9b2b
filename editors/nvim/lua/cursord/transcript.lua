--- The transcript of a session: its turns and items as blocks.
local quiet = require('cursord.quiet')
local rpc = require('cursord.rpc')
local tools = require('cursord.tools')
local wording = require('cursord.wording')
local workspace = require('cursord.workspace')

local api = vim.api
local page = 300

local bar = tools.bar

--- @class cursord.Transcript: cursord.Blocks
--- @field ws cursord.Workspace
--- @field session? string
--- @field turns table<string, string> the sort keys of turns, by id
--- @field asked table<string, string> the prompts of turns, by id
--- @field orphans table<string, cursord.Item[]> items of turns that have not come yet
--- @field gone table<string, true> turns that a rewind has removed; an answer may still have them
--- @field read? boolean the newest page is there
--- @field wanted? cursord.Place what is to be revealed when it has been read
--- @field oldest? string the oldest item, if there are older ones to read
local Transcript = setmetatable({}, { __index = require('cursord.blocks') })
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
  local self = setmetatable({ ws = ws, buf = buf, gone = {} }, Transcript)
  self:forget()
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
  api.nvim_create_autocmd({ 'BufReadCmd', 'BufWipeout' }, {
    buffer = buf,
    callback = function(args)
      if args.event == 'BufReadCmd' then -- as of ":edit", which has emptied it
        return self:reload()
      end
      self:close()
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

function Transcript:forget()
  self.turns, self.asked, self.orphans, self.oldest = {}, {}, {}, nil
  self.read = false
  self:empty()
end

local function item_order(self, item)
  return ('%s %08d'):format(self.turns[item.turnId], item.index)
end

--- @type table<string, { head: string[], prefix: string, compact?: boolean, drawn?: 'text' }>
local texts = {
  assistant = { head = {}, prefix = '', drawn = 'text' },
  thinking = { head = { '∴ Thinking' }, prefix = bar, compact = true },
  plan = { head = { '### Plan', '' }, prefix = '', drawn = 'text' },
  notice = { head = {}, prefix = '> ', drawn = 'text' },
}

--- Whether an object from an answer is older than the shown one: notifications can overtake answers.
--- @param block? cursord.Block
--- @param object cursord.Item|cursord.Turn
local function is_older(block, object)
  if not block or object.seq ~= block.seq then
    return block ~= nil and object.seq < block.seq
  end
  return vim.startswith(table.concat(block.text), object.text or '')
end

--- Shows the present form of an item.
--- @param item cursord.Item
--- @param read? boolean it is from an answer
function Transcript:item(item, read)
  if self.gone[item.turnId] then
    return
  elseif not self.turns[item.turnId] then
    self.orphans[item.turnId] = self.orphans[item.turnId] or {}
    table.insert(self.orphans[item.turnId], item)
    return
  end
  local block = self.by_id[item.id]
  if read and is_older(block, item) then
    return
  end
  if item.kind == 'tool' then
    return self:tool(item, block)
  end
  local form = texts[item.kind]
  if not block then
    local lines = vim.list_extend({}, form.head)
    lines[#lines + 1] = form.prefix
    block = self:insert(item.id, item_order(self, item), lines, form.compact, form.drawn)
    block.prefix = form.prefix
  end
  block.seq = item.seq
  local text = item.text or ''
  require('cursord.again').see(item)
  self:set(block, form.head, item.kind == 'notice' and wording.here(text) or text)
end

--- The reports of edits that are read whole at once, so that the changed lines are counted, in bytes.
local read_most = 512 * 1024

--- @param item cursord.Item
--- @param block? cursord.Block
--- @param whole? boolean it was read whole
function Transcript:tool(item, block, whole)
  local shown, fresh = tools.show(item, self.ws.root), true
  if block then
    fresh = self:replace(block, shown.lines)
  else
    block = self:insert(item.id, item_order(self, item), shown.lines, true)
  end
  block.seq, block.tool, block.item = item.seq, shown, item.id
  if fresh then
    self:paint(block, shown.groups)
  end
  if shown.cut and not whole and shown.cut <= read_most then
    self:read_whole(block)
  end
  if item.tool.todos then
    require('cursord.todos').take(self, item)
  end
end

--- The tool call at a row, if there is one.
--- @param row integer
--- @return cursord.Block?
--- @return integer # the number of the row's line in the call
function Transcript:call_at(row)
  local block, first = self:at(row)
  return block and block.tool and block or nil, row - first + 1
end

--- The turn that a row belongs to.
--- @param row integer
--- @return string?
function Transcript:turn_at(row)
  local block = self:at(row)
  for id, order in pairs(block and self.turns or {}) do
    if vim.startswith(block.order, order .. ' ') then
      return id
    end
  end
end

--- Reads the whole item of a call that the daemon has cut.
--- @param block cursord.Block
--- @param done? fun()
function Transcript:read_whole(block, done)
  rpc.request('item/read', { itemId = block.item }, function(err, result)
    if err then
      return done and rpc.say_error(err)
    elseif api.nvim_buf_is_valid(self.buf) and self.by_id[block.item] == block then
      self:tool(result.item, block, true)
      if done then
        done()
      end
    end
  end)
end

--- Appends a piece of an item's text.
--- @param delta { itemId: string, offset: integer, text: string }
function Transcript:delta(delta)
  local block = self.by_id[delta.itemId]
  local have = block and block.bytes or 0
  if block and delta.offset <= have then
    self:append(block, delta.text:sub(have - delta.offset + 1))
    return
  end
  rpc.request('item/read', { itemId = delta.itemId }, function(err, result)
    if not err and api.nvim_buf_is_valid(self.buf) then
      self:item(result.item, true)
    end
  end)
end

local notes = {
  queued = 'waiting for its turn',
  failed = 'failed',
  cancelled = 'cancelled',
  interrupted = 'interrupted',
}

--- Shows the present form of a turn.
--- @param turn cursord.Turn
function Transcript:turn(turn)
  if self.gone[turn.id] then
    return
  end
  local order = ('%s %s'):format(turn.createdAt, turn.id)
  local head = self.by_id[turn.id]
  if not head then
    self.turns[turn.id], self.asked[turn.id] = order, turn.prompt
    local lines = vim.split(turn.prompt, '\n', { plain = true })
    for _, image in ipairs(turn.images or {}) do
      lines[#lines + 1] = ('[image: %s]'):format(image)
    end
    local all = vim.list_extend({ '## You', '' }, lines)
    self:insert('prompt ' .. turn.id, order .. ' !', all, nil, 'source')
    head = self:insert(turn.id, order .. ' "', { '## Cursor' })
    for _, item in ipairs(self.orphans[turn.id] or {}) do
      self:item(item, true)
    end
    self.orphans[turn.id] = nil
  end
  head.seq = turn.seq
  local row = self:row(head) + head.gap
  local note = turn.status == 'running' and quiet.note(turn) or notes[turn.status]
  head.note = api.nvim_buf_set_extmark(self.buf, self.ns, row, 0, {
    id = head.note,
    virt_text = note and { { note, 'CursordNote' } } or nil,
  })
  if turn.error and not self.by_id['end ' .. turn.id] then
    local text = wording.error(turn.error.message, turn.error.hint)
    local lines = vim.split(text, '\n%s*')
    lines[1] = '**' .. lines[1] .. '**'
    lines = vim.tbl_map(function(line)
      return '> ' .. line
    end, lines)
    self:insert('end ' .. turn.id, order .. ' ~', lines, nil, 'text')
  end
end

--- Takes a turn out that a rewind has removed.
--- @param id string
function Transcript:drop(id)
  local order = self.turns[id]
  self.gone[id], self.orphans[id] = true, nil
  if not order then
    return
  end
  self.turns[id], self.asked[id] = nil, nil
  self:remove(order .. ' ')
  require('cursord.todos').drop(self.buf, id)
  if self.oldest and not self.by_id[self.oldest] then
    self:reload() -- older items are known by the oldest one that is shown
  end
end

--- The prompts that are shown, in order.
--- @return string[]
function Transcript:prompts()
  local ids = vim.tbl_keys(self.asked)
  table.sort(ids, function(a, b)
    return self.turns[a] < self.turns[b]
  end)
  return vim.tbl_map(function(id)
    return self.asked[id]
  end, ids)
end

--- Shows a page of the transcript.
--- @param result { turns: cursord.Turn[], items: cursord.Item[] }
function Transcript:page(result)
  for _, turn in ipairs(result.turns) do
    if not is_older(self.by_id[turn.id], turn) then
      self:turn(turn)
    end
  end
  for _, item in ipairs(result.items) do
    self:item(item, true)
  end
end

--- Reads the newest page of the transcript, or the page before an item.
--- @param before? string the id of an item
function Transcript:load(before)
  rpc.request(
    'session/read',
    { sessionId = self.session, before = before, limit = page },
    function(err, result)
      if err then
        self.wanted = nil
        rpc.say_error(err)
        return
      elseif not api.nvim_buf_is_valid(self.buf) then
        return
      end
      self:page(result)
      self.read = true
      self:flush()
      self.oldest = result.more and result.items[1] and result.items[1].id or nil
      if self.wanted then
        self:reveal(self.wanted)
      elseif self.oldest then
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

--- Goes to a place. If it is older than what is shown, it is read first.
--- @param place cursord.Place
function Transcript:reveal(place)
  local block = self.by_id[place.item or 'prompt ' .. place.turn]
  self.wanted = not block and place or nil
  if block then
    local row = self:row(block) + block.gap + 1
    require('cursord.windows').go(self.buf, row, place.word, function(at)
      return self:at(at - 1) == block
    end)
  elseif self.read and self.oldest then
    self:load(self.oldest)
  elseif self.read then
    self.wanted = nil
    rpc.say('this turn is in the transcript no more: it was taken back')
  end
end

--- Reads and shows the transcript again.
function Transcript:reload()
  self:forget()
  if self.session then
    self:load()
  end
end

--- @param event cursord.Event
--- @param method 'turn'|'item'|'delta'
local function pass(event, method)
  workspace.on(event, function(_, object)
    local shown = by_session[object.sessionId]
    if shown then
      shown[method](shown, object)
    end
  end)
end

workspace.on('turn_removed', function(_, id)
  for _, shown in pairs(by_session) do
    if shown.turns[id] or shown.orphans[id] then
      shown:drop(id)
    end
  end
end)

pass('turn', 'turn')
pass('item', 'item')
pass('delta', 'delta')

quiet.on(function(_, turn)
  local shown = by_session[turn.sessionId]
  if shown then
    shown:turn(turn)
  end
end)

return M
