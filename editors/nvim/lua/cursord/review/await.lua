--- Commands about hunks wait here until the daemon has placed the hunks in the text that the person sees. They run in
--- order, one queue for each workspace. What they are about stays: a row moves with the text, and a command after one that
--- moves the cursor is about where the cursor is then. A lost connection that is made again ends no waiting.
local docs = require('cursord.docs')
local report = require('cursord.report')
local rpc = require('cursord.rpc')
local view = require('cursord.review.view')

local api = vim.api
local M = {}

local ns = api.nvim_create_namespace('cursord_await')

--- After quietly a command says that it waits, after most it gives up. Every pace is looked whether it can run. In
--- milliseconds.
M.quietly, M.most = 1000, 30000
local pace = 15

--- @class cursord.Command
--- @field name string for messages
--- @field of 'cursor'|'rows'|'move'|'all' it is about the cursor's row, rows, where the cursor is when it runs, or all files
--- @field rows? integer[]
--- @field act fun(buf: integer, row: integer, rows: integer[]) gets buffer, cursor's row and rows as they are when it runs

--- @class cursord.Waiting: cursord.Command
--- @field buf integer
--- @field tick integer the 'changedtick' of the text that the person saw
--- @field marks integer[] extmarks of the cursor's row, and of the rows
--- @field since integer
--- @field said? true
--- @field told table<cursord.Doc, integer> the 'changedtick' of the text that was reported for it
--- @field asked table<cursord.Doc, true> the daemon was asked for lines that the text lacks

local queues = {} --- @type table<cursord.Workspace, cursord.Waiting[]>
local timer --- @type uv.uv_timer_t?

--- Whether the marks in a document's buffer are those of its present text. If not, has done what is missing.
--- @param doc cursord.Doc
--- @param one cursord.Waiting
--- @return boolean
local function settled(doc, one)
  local diff, now = doc.ws.diffs[doc.rel], api.nvim_buf_get_changedtick(doc.buf)
  if not diff and not doc.reviewed or docs.at(doc.ws, doc.rel) ~= doc then
    return true -- the file has no hunks, or they are shown in another buffer of it
  elseif doc.telling > 0 or doc.undoing or doc.merging then
    return false
  elseif not report.in_sync(doc) then
    -- While the person goes on typing, the text is reported in the next pause.
    if one.told[doc] ~= now and (doc.buf ~= one.buf or now == one.tick) then
      one.told[doc] = now
      report.tell(doc)
    end
    return false
  elseif doc.open and doc.answered ~= now then
    report.ask(doc)
    return false
  elseif not diff then
    return true
  end
  local shown, lacks = view.shows(doc.buf, diff)
  if not shown then
    docs.show(doc.ws, diff)
    shown, lacks = view.shows(doc.buf, diff)
  end
  if lacks and not one.asked[doc] then
    -- The file may have changed just now. The answer to one question is newer than that.
    one.asked[doc] = true
    report.ask(doc)
    return false
  end
  return shown
end

--- The documents whose hunks a command is about.
--- @param ws cursord.Workspace
--- @param one cursord.Waiting
--- @return cursord.Doc[]
local function docs_of(ws, one)
  local all = one.of == 'move' or one.of == 'all'
  return all and docs.of(ws) or { docs.get(one.buf) }
end

--- @param ws cursord.Workspace
--- @param one cursord.Waiting
--- @return boolean
local function is_ready(ws, one)
  if not ws.ready or not ws.loaded then
    return false
  end
  local ready = true
  for _, doc in ipairs(docs_of(ws, one)) do
    ready = settled(doc, one) and ready
  end
  return ready
end

--- Why a command can never run, if a request has failed.
--- @param ws cursord.Workspace
--- @param one cursord.Waiting
--- @return cursord.Error?
local function refusal(ws, one)
  for _, doc in ipairs(docs_of(ws, one)) do
    if doc.refused then
      return doc.refused
    end
  end
end

--- The present rows of a command's marks.
--- @param one cursord.Waiting
--- @return integer[]? # nil if the buffer is gone
local function rows_of(one)
  if not api.nvim_buf_is_loaded(one.buf) then
    return nil
  end
  return vim.tbl_map(function(mark)
    return api.nvim_buf_get_extmark_by_id(one.buf, ns, mark, {})[1] or 0
  end, one.marks)
end

--- Removes a command's marks, and returns their rows.
--- @param one cursord.Waiting
--- @return integer[]? # nil if the buffer is gone
local function drop(one)
  local rows = rows_of(one)
  for _, id in ipairs(rows and one.marks or {}) do
    api.nvim_buf_del_extmark(one.buf, ns, id)
  end
  return rows
end

--- @param buf integer
--- @param rows integer[]
--- @return integer[] marks
local function mark(buf, rows)
  local last = api.nvim_buf_line_count(buf) - 1
  return vim.tbl_map(function(row)
    return api.nvim_buf_set_extmark(buf, ns, math.min(row, last), 0, {})
  end, rows)
end

--- @return integer buf
--- @return integer row
local function cursor()
  -- In "nvim +COMMAND" the cursor is at line 0.
  return api.nvim_get_current_buf(), math.max(api.nvim_win_get_cursor(0)[1] - 1, 0)
end

--- Runs the first command of a queue. Those behind it that were given where the cursor was follow the cursor.
--- @param queue cursord.Waiting[]
local function run(queue)
  local one = table.remove(queue, 1)
  local rows = drop(one)
  local buf, row = cursor()
  if one.of ~= 'all' and (not rows or buf ~= one.buf) then
    rpc.say(('nothing is done: %q was meant for another buffer'):format(one.name))
    return
  end
  local follow = vim.tbl_filter(function(other)
    local at = rows_of(other)
    return other.of ~= 'rows' and other.buf == buf and at ~= nil and at[1] == row
  end, queue)
  local of = one.of == 'move' and row or rows and rows[1] or 0
  local ok, err = pcall(one.act, one.buf, of, { unpack(rows or {}, 2) })
  if not ok then
    rpc.say(('%s: %s'):format(one.name, err), vim.log.levels.ERROR)
  end
  local now_buf, now_row = cursor()
  if now_buf ~= buf or now_row ~= row then
    for _, other in ipairs(follow) do
      drop(other)
      other.buf, other.tick = now_buf, api.nvim_buf_get_changedtick(now_buf)
      other.marks = mark(now_buf, { now_row })
    end
  end
end

--- Gives up the first command of a queue.
--- @param queue cursord.Waiting[]
--- @param why? string nil if it was said
local function give_up(queue, why)
  local one = table.remove(queue, 1)
  drop(one)
  if why then
    rpc.say(('%q is not done: %s'):format(one.name, why), vim.log.levels.WARN)
  end
end

--- Runs the first command of a queue if it can run, or gives it up if it waits for too long.
--- @param ws cursord.Workspace
--- @param queue cursord.Waiting[]
--- @return boolean # whether it is done with
local function try(ws, queue)
  local one = queue[1]
  local waits = vim.uv.now() - one.since
  local refused = refusal(ws, one)
  if refused then
    give_up(queue, refused.message)
  elseif ws.trouble then
    give_up(queue)
  elseif not api.nvim_buf_is_loaded(one.buf) or is_ready(ws, one) then
    run(queue)
  elseif waits >= M.most then
    local text = 'no answer from the daemon in %d s; :checkhealth cursord' -- fits into 80 columns
    give_up(queue, text:format(M.most / 1000))
  else
    if waits >= M.quietly and not one.said then
      one.said = true
      rpc.say(('%q waits for the daemon to place the hunks'):format(one.name))
    end
    return false
  end
  return true
end

local function look()
  for _, ws in ipairs(vim.tbl_keys(queues)) do
    local queue = queues[ws] or {}
    while queue[1] and try(ws, queue) do
    end
    queues[ws] = queue[1] and queue or nil
  end
  if timer and not next(queues) then
    timer:close()
    timer = nil
  end
end

--- Whether commands wait in a workspace.
--- @param ws cursord.Workspace
--- @return boolean
function M.is_waiting(ws)
  return queues[ws] ~= nil
end

--- Runs a command about hunks when it can be answered: at once, or when the hunks are placed in the text that the person
--- sees now.
--- @param ws cursord.Workspace
--- @param command cursord.Command
function M.run(ws, command)
  if ws.trouble then
    ws:subscribe()
  elseif not rpc.connected() then
    return -- it was said why
  end
  local buf, row = cursor()
  --- @type cursord.Waiting
  local one = vim.tbl_extend('error', command, {
    buf = buf,
    tick = api.nvim_buf_get_changedtick(buf),
    marks = {},
    since = vim.uv.now(),
    told = {},
    asked = {},
  })
  for _, doc in ipairs(docs_of(ws, one)) do
    doc.refused = nil
  end
  if not queues[ws] and is_ready(ws, one) then
    return command.act(buf, row, command.rows or {})
  end
  one.marks = mark(buf, { row, unpack(command.rows or {}) })
  queues[ws] = queues[ws] or {}
  table.insert(queues[ws], one)
  if not timer then
    timer = assert(vim.uv.new_timer())
    timer:start(pace, pace, vim.schedule_wrap(look))
  end
end

return M
