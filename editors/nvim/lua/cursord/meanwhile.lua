--- Keeps what a person types and saves while a decision is on its way.
local docs = require('cursord.docs')
local follow = require('cursord.follow')
local history = require('cursord.history')
local report = require('cursord.report')

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

--- Prepares a buffer for a write. Decisions that are on their way reach the buffer first, so that Neovim finds the file that it
--- knows. A text to which "u" has led is reported before the file has it: if it is the text from before a decision, the daemon
--- takes that decision back.
--- @param buf integer
function M.before_write(buf)
  local doc = docs.get(buf)
  if not doc or not doc.reviewed then
    return
  end
  local decide = require('cursord.review.decide')
  if report.takes_back(doc) or decide.is_busy(doc.ws) then
    vim.wait(patience, function()
      return not doc.undoing and not decide.is_busy(doc.ws)
    end, 2)
  end
  if not history.is_back(buf) then
    return
  end
  local known = false
  report.tell(doc, function()
    known, late = true, false
  end)
  if not known and not late then
    late = not vim.wait(patience, function()
      return known
    end, 2)
  end
end

return M
