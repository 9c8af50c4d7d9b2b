--- What was written on disk below a buffer's unsaved text: it is made there, too, unless that would end the person's redo.
local follow = require('cursord.follow')
local history = require('cursord.history')
local report = require('cursord.report')
local rpc = require('cursord.rpc')

local api = vim.api
local M = {}

--- How many changes on disk an unsaved text lacks and no hunk shows. The agent's side of a conflict is shown, and a save is a
--- decision about it that can be undone, so Neovim need not ask about that.
--- @param diff cursord.Diff
--- @return integer
local function lacks(diff)
  return (diff.mergeable or 0) + (diff.overlaps or 0)
end

--- @param diff cursord.Diff
--- @return integer
local function conflicts(diff)
  local count = 0
  for _, hunk in ipairs(diff.hunks) do
    count = count + (hunk.state == 'conflict' and 1 or 0)
  end
  return count
end

--- Says what has come into the text, and what has not.
--- @param doc cursord.Doc
--- @param diff cursord.Diff
local function say_merged(doc, diff)
  local count = conflicts(diff)
  local rest = count > 0 and ('; %d conflict%s'):format(count, count == 1 and '' or 's') or ''
  local text = (diff.overlaps or 0) > 0 and "%s: the disk's changes are in, but not in your lines%s"
    or "%s: the disk's changes are in, u takes them out%s"
  rpc.say(text:format(vim.fs.basename(doc.rel), rest))
end

--- Fetches the changes on disk below a buffer's unsaved text and makes them there, as one step for undo. When the text lacks
--- nothing any more, Neovim takes the file as known. Until then it asks before it writes over it.
--- @param doc cursord.Doc
--- @param asked? boolean the person wants it, also at the price of the redo
local function merge(doc, asked)
  if doc.merging or not doc.open or not report.in_sync(doc) then
    return report.soon(doc)
  end
  doc.merging = true
  local tick, seen = doc.tick, follow.stamp(doc.path)
  doc.ws:decide('diff/merge', { workspace = doc.ws.root, path = doc.rel }, function(err, result)
    doc.merging = nil
    local diff = result and result.diffs and result.diffs[1]
    if err or doc.gone or not diff then
      return
    elseif #(result.edits or {}) > 0 then
      if not asked and history.is_back(doc.buf) then
        return report.tell(doc) -- the person has gone back meanwhile
      elseif require('cursord.docs').apply(doc.ws, result.edits) then
        doc.held = nil
        require('cursord.review.kept').merged(doc, #result.edits[1].edits)
        say_merged(doc, diff)
      end
      return merge(doc)
    end
    local same = seen == follow.stamp(doc.path) and tick == api.nvim_buf_get_changedtick(doc.buf)
    if same and lacks(diff) == 0 then
      doc.held, doc.known = nil, seen
      follow.knows(doc.buf)
      doc.overtaken = follow.stamp(doc.path) ~= seen or nil
      doc.lacks = doc.overtaken
    end
  end)
end

--- Takes in what a diff says of the changes on disk below a buffer's unsaved text. Where the person has gone back in the undo
--- history, they wait: a new step would take away what CTRL-R brings.
--- @param doc cursord.Doc
--- @param diff cursord.Diff
function M.look(doc, diff)
  if doc.ws:is_deleted(doc.rel) then
    doc.lacks, doc.held = true, nil -- when the file is back, Neovim does not know it
    return
  end
  local count, mergeable = lacks(diff), diff.mergeable or 0
  if diff.rev == 0 and doc.held then -- made here for a file with nothing pending: it does not know what waits
    if not history.is_back(doc.buf) then
      merge(doc)
    end
    return
  end
  local news = doc.lacks or conflicts(diff) > 0 and doc.known ~= follow.stamp(doc.path)
  if mergeable > 0 and history.is_back(doc.buf) then
    if not doc.held and not doc.undoing then -- what becomes of a decision is said when it is taken back
      local text = '%s: what is new on disk waits, for <C-r>; :Cursord merge takes it'
      rpc.say(text:format(vim.fs.basename(doc.rel)))
    end
    doc.held = (diff.diskOnly or 0) > 0 and mergeable or 0
  else
    doc.held = nil
    if mergeable > 0 or news and count == 0 then
      merge(doc)
    end
  end
  doc.lacks = doc.lacks or count > 0 or nil
end

--- Takes in at the person's word what waits.
--- @param buf integer
function M.take(buf)
  local doc = require('cursord.docs').get(buf)
  if not doc or not vim.bo[buf].modified then
    return rpc.say(
      'this buffer has no unsaved text that lacks what is on disk',
      vim.log.levels.WARN
    )
  end
  report.tell(doc, function()
    if doc.held then
      merge(doc, true)
    else
      rpc.say('nothing on disk waits for this buffer')
    end
  end)
end

return M
