--- Keeps what a person types and saves while a decision is on its way.
local docs = require('cursord.docs')
local follow = require('cursord.follow')
local history = require('cursord.history')
local report = require('cursord.report')

local api = vim.api
local M = {}

--- How long a write waits for the daemon, in milliseconds.
local patience = 1000

--- Whether the daemon did not answer within that time. Later writes then do not wait, until it has answered.
local late = false

--- The limit of the texts that are kept during a decision, in bytes.
local most = 32 * 1024 * 1024

--- Begins a decision: keeps the texts of saved buffers, so that later differences to them are known as the person's
--- typing.
--- @param ws cursord.Workspace
function M.begin(ws)
  local left = most
  for _, doc in ipairs(docs.of(ws)) do
    if left > 0 and doc.reviewed and not doc.base and not vim.bo[doc.buf].modified then
      doc.base = follow.held(doc.buf, doc.path)
      left = left - #(doc.base or '')
    end
  end
end

--- Ends the decision.
--- @param ws cursord.Workspace
function M.finish(ws)
  for _, doc in ipairs(docs.of(ws)) do
    doc.base = nil
  end
end

--- Has the daemon know a buffer's text before the file has it. Waits for that, but not for a daemon that does not answer.
--- @param doc cursord.Doc
--- @param by_file? boolean only that its file had the text from before the write
local function tell(doc, by_file)
  local known = false
  local function done()
    known, late = true, false
  end
  if by_file then
    report.holds(doc, true)
    report.ask(doc, done)
  else
    report.tell(doc, done, true)
  end
  if not known and not late then
    late = not vim.wait(patience, function()
      return known
    end, 2)
  end
end

--- Prepares a buffer for a write. Commands that wait and decisions that are on their way reach the buffer first, so that
--- Neovim finds the file that it knows. Two texts are reported before the file has them: the text to which "u" has led,
--- because the daemon takes the decision after it back, and a text that is typed while an agent runs, because the daemon takes
--- it for a command's otherwise.
--- @param buf integer
function M.before_write(buf)
  local doc = docs.get(buf)
  if not doc then
    return
  end
  if doc.reviewed then
    local await, decide = require('cursord.review.await'), require('cursord.review.decide')
    local function is_busy()
      return decide.is_busy(doc.ws) or await.is_waiting(doc.ws)
    end
    if require('cursord.review.back').takes_back(doc) or is_busy() then
      vim.wait(patience, function()
        return not doc.undoing and not is_busy()
      end, 2)
    end
  end
  if doc.reviewed and history.is_back(buf) or report.is_told_before_save(doc) then
    tell(doc)
  end
  doc.writing = api.nvim_buf_get_changedtick(buf)
end

--- Prepares a buffer, whose workspace was connected because of it, for a write.
--- @param buf integer
function M.before_first_write(buf)
  local doc = docs.get(buf)
  if doc and not doc.open then
    tell(doc, not report.is_tellable(doc))
    doc.writing = api.nvim_buf_get_changedtick(buf)
  end
end

--- Why a write must be refused that Neovim would not ask about; "" if it need not be.
--- @param buf integer
--- @return string
function M.refusal(buf)
  local doc = docs.get(buf)
  if not doc or not doc.overtaken or vim.v.cmdbang == 1 then
    return ''
  end
  return ('%s has changes on disk that are not in your text: :write! writes over them, :edit! reads them'):format(
    doc.rel
  )
end

return M
