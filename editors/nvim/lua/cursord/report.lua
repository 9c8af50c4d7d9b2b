--- Reports the text of buffers with changes to the daemon, and makes the edits with which it answers.
local follow = require('cursord.follow')
local lines = require('cursord.lines')
local rpc = require('cursord.rpc')

local api = vim.api
local M = {}

--- Typing is reported after a pause, in milliseconds. For long texts the pause is this multiple of the time that a report
--- takes.
local pause, pause_factor = 80, 8

--- The limit of the texts that are reported because they are saved, in bytes. The daemon reads the files of larger ones.
local most = 8 * 1024 * 1024

--- Documents that are gone while a report of their text was on its way, with what is to be sent after that. Else the daemon
--- would drop a text that it has not looked at, and could not recognise it when an undo brings it back.
local leaving = {} --- @type table<string, fun()[]> by path

--- Sends that a buffer is no document any more.
--- @param doc cursord.Doc
function M.close(doc)
  local function send()
    rpc.notify('document/didClose', { uri = vim.uri_from_fname(doc.path) })
  end
  if doc.telling == 0 then
    send()
  else
    leaving[doc.path] = { send }
  end
end

--- Whether the daemon knows the buffer's present text.
--- @param doc cursord.Doc
--- @return boolean
function M.in_sync(doc)
  if vim.bo[doc.buf].modified or doc.open then
    return doc.open and doc.tick == api.nvim_buf_get_changedtick(doc.buf)
  end
  return true
end

--- Notes the state of the undo history that a decision has made in a saved buffer.
--- @param doc cursord.Doc
--- @param decision integer
--- @param hunks string[]
function M.wrote(doc, decision, hunks)
  if doc.followed then
    table.insert(doc.wrote, { decision = decision, state = doc.followed, hunks = hunks })
    doc.followed, doc.checked = nil, nil
  end
end

--- Reports that a buffer equals its file. When the agent writes the file later, below unsaved text, the daemon then knows
--- the common base.
--- @param doc cursord.Doc
--- @param had? boolean it did before it was changed
function M.holds(doc, had)
  local loaded = api.nvim_buf_is_loaded(doc.buf)
  if doc.gone or doc.open or not loaded or vim.bo[doc.buf].modified and not had then
    return
  end
  if leaving[doc.path] then
    table.insert(leaving[doc.path], function()
      M.holds(doc)
    end)
    return
  end
  doc.named = true
  rpc.notify('document/didOpen', { uri = vim.uri_from_fname(doc.path), version = doc.version })
end

--- Whether a text is reported before it is saved: an agent is running, whose commands may write the file, or has deleted
--- it.
--- @param doc cursord.Doc
--- @return boolean
function M.is_told_before_save(doc)
  local is_needed = #doc.ws:busy() > 0 or doc.ws:is_deleted(doc.rel)
  return vim.bo[doc.buf].modified and is_needed and M.is_tellable(doc)
end

--- Whether a buffer has the text of its file, neither converted nor decrypted.
--- @param doc cursord.Doc
--- @return boolean
function M.is_tellable(doc)
  local encoding = vim.bo[doc.buf].fileencoding
  return (encoding == '' or encoding == 'utf-8')
    and vim.b[doc.buf].cursord_plain ~= false
    and api.nvim_buf_get_offset(doc.buf, api.nvim_buf_line_count(doc.buf)) <= most
end

--- Reports that a buffer was saved. If the daemon does not know the saved text, it reads the file.
--- @param doc cursord.Doc
function M.saved(doc)
  local changed = doc.writing ~= api.nvim_buf_get_changedtick(doc.buf)
  doc.writing = nil
  if not doc.open and not changed then
    return M.holds(doc)
  elseif not doc.open and not doc.named then
    M.holds(doc)
  end
  local known = doc.open and vim.b[doc.buf].cursord_plain and doc.text == lines.text(doc.buf)
  if changed and not known then
    doc.version = doc.version + 1 -- than that of the text that the daemon knows
  end
  doc.tick = api.nvim_buf_get_changedtick(doc.buf)
  rpc.notify('document/didSave', { uri = vim.uri_from_fname(doc.path), version = doc.version })
  if doc.open and not doc.reviewed then
    doc.open, doc.named, doc.text = false, true, nil
  end
end

--- Gets the diff of a document's present text, which the daemon knows.
--- @param doc cursord.Doc
--- @param done? fun()
function M.ask(doc, done)
  local tick, seq = api.nvim_buf_get_changedtick(doc.buf), doc.ws.diff_seqs[doc.rel]
  doc.telling = doc.telling + 1
  rpc.request('diff/list', { workspace = doc.ws.root, path = doc.rel }, function(err, result)
    doc.telling = doc.telling - 1
    local waiting = doc.gone and doc.telling == 0 and leaving[doc.path] or {}
    if #waiting > 0 then
      leaving[doc.path] = nil
    end
    for _, act in ipairs(waiting) do
      act()
    end
    doc.refused = err and not (err.data and err.data.kind == 'disconnected') and err or nil
    local fits = not err and not doc.gone and doc.reviewed
    if fits and tick == api.nvim_buf_get_changedtick(doc.buf) then
      local diff = result.diffs[1]
      if not diff and seq ~= doc.ws.diff_seqs[doc.rel] then
        return M.ask(doc, done) -- a notification that is newer may have come before this answer
      end
      doc.answered = tick
      doc.ws:put_diff(
        diff or { path = doc.rel, state = 'clean', hunks = {}, kind = 'modified', rev = 0 }
      )
    end
    if done then
      done()
    end
  end)
end

--- Reports a buffer's text, and gets the diff for it.
--- @param doc cursord.Doc
--- @param done? fun()
--- @param save? boolean the text is about to be saved
function M.tell(doc, done, save)
  done = done or function() end
  local wanted = doc.reviewed or doc.open or save
  if doc.gone or not api.nvim_buf_is_loaded(doc.buf) or not wanted then
    return done()
  elseif require('cursord.review.back').takes_back(doc) then
    table.insert(doc.undoing, done)
    return
  end
  M.send(doc, done)
end

--- Reports a buffer's text, and gets the diff for it, whatever decisions the person has undone.
--- @param doc cursord.Doc
--- @param done fun()
function M.send(doc, done)
  if M.in_sync(doc) or not rpc.start() then
    return done()
  elseif leaving[doc.path] then
    table.insert(leaving[doc.path], function()
      M.tell(doc, done)
    end)
    return
  end
  local began = vim.uv.hrtime()
  doc.version = doc.version + 1
  doc.tick = api.nvim_buf_get_changedtick(doc.buf)
  doc.text = lines.text(doc.buf)
  rpc.notify(doc.open and 'document/didChange' or 'document/didOpen', {
    uri = vim.uri_from_fname(doc.path),
    version = doc.version,
    text = doc.text,
  })
  doc.open = true
  doc.cost = (vim.uv.hrtime() - began) / 1e6
  M.ask(doc, function()
    require('cursord.review.elsewhere').follow(doc, done)
  end)
end

--- Reports the text when the person pauses and no decision is on its way.
--- @param doc cursord.Doc
function M.soon(doc)
  doc.timer = doc.timer or assert(vim.uv.new_timer())
  doc.timer:start(
    math.floor(math.max(pause, doc.cost * pause_factor)),
    0,
    vim.schedule_wrap(function()
      if doc.gone then
        return
      elseif doc.ws.decisions > 0 then
        M.soon(doc)
      else
        M.tell(doc)
      end
    end)
  )
end

--- Makes edits in a buffer, as one step for undo. They are for the text of the last report; what was typed since stays.
--- @param doc cursord.Doc
--- @param version integer of the text for which the edits are
--- @param edits cursord.TextEdit[]
--- @return boolean # false if nothing was done: the edits are for another text, or the person has changed the same lines
function M.edit(doc, version, edits)
  if not doc.open or doc.version ~= version then
    return false
  elseif M.in_sync(doc) then
    follow.apply(doc.buf, edits)
    return true
  end
  local theirs, was, now = lines.pieces_of(edits), lines.with_eol(doc.text), lines.text(doc.buf)
  local mine = lines.pieces(was, lines.with_eol(now), lines.counted(was))
  local pieces = theirs and lines.rebase(theirs, mine)
  if not pieces then
    return false
  end
  follow.change(doc.buf, pieces)
  return true
end

return M
