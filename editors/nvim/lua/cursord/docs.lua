--- Buffers and their files. A buffer without changes follows the disk; the text of one with changes is reported to the
--- daemon.
local asread = require('cursord.asread')
local follow = require('cursord.follow')
local history = require('cursord.history')
local report = require('cursord.report')
local workspace = require('cursord.workspace')

local api = vim.api
local M = {}

--- @class cursord.Doc
--- @field buf integer
--- @field path string absolute, without links
--- @field rel string relative to the workspace
--- @field ws cursord.Workspace
--- @field reviewed boolean it has, or had, hunks
--- @field writing? integer the 'changedtick' when the write began that is on its way; it stays if nothing was changed
--- @field open boolean the daemon has its text
--- @field named? boolean the daemon knows that the buffer equals its file
--- @field merging? boolean a request is on its way for what was written below the unsaved text
--- @field lacks? true the file had changes that the unsaved text lacked, and Neovim does not know the file since
--- @field held? integer changes on disk wait for the person, who has gone back in the undo history; how many of the agent's
--- @field known? string the stamp of the file that Neovim was last told to know below an unsaved text
--- @field overtaken? true the file was written just before Neovim was told to know it, so Neovim would not ask about that
--- @field version integer
--- @field tick? integer the 'changedtick' of the last reported text
--- @field text? string the last reported text
--- @field base? string the content of the file before the decision that is on its way
--- @field gone? boolean the buffer is no document any more
--- @field telling integer questions for its diff that are on their way
--- @field answered? integer the 'changedtick' of the text that the diff is about
--- @field refused? cursord.Error why the last such question failed
--- @field cost number milliseconds that the last report took
--- @field followed? integer the state in the undo history at which the buffer last followed the disk
--- @field wrote cursord.Made[] decisions that are saved
--- @field back cursord.Made[] decisions that "u" has taken back in a text that was saved then
--- @field unsaved cursord.Made[] decisions that are in the unsaved text
--- @field steps cursord.Step[] decisions that left the text alone
--- @field merged cursord.Merged[] changes on disk that were made in the unsaved text
--- @field saves integer the number of the buffer's writes that are reported
--- @field looked? integer the 'changedtick' at which unreported writes were last looked for
--- @field checked? integer the 'changedtick' at which the undo history was last compared with the decisions
--- @field undoing? fun()[] calls that wait while the daemon takes decisions back
--- @field timer? uv.uv_timer_t

local docs = {} --- @type table<integer, cursord.Doc>
local by_path = {} --- @type table<string, cursord.Doc>

--- @return string? # without links; nil if the file and its folder do not exist
local function real(name)
  local path = vim.uv.fs_realpath(name)
  if path then
    return path
  end
  local dir = vim.uv.fs_realpath(vim.fs.dirname(name))
  return dir and vim.fs.joinpath(dir, vim.fs.basename(name)) or nil
end

--- @return cursord.Workspace?, string?
local function workspace_of(path)
  local best --- @type cursord.Workspace?
  for root, ws in pairs(workspace.all()) do
    local inside = root == '/' or vim.startswith(path, root .. '/')
    if inside and (not best or #root > #best.root) then
      best = ws
    end
  end
  if best then
    return best, path:sub(#best.root + (best.root == '/' and 1 or 2))
  end
end

--- @param doc cursord.Doc
local function forget(doc)
  if doc.timer then
    doc.timer:stop()
    doc.timer:close()
    doc.timer = nil
  end
  if doc.open or doc.named then
    doc.open, doc.named = false, nil
    report.close(doc)
  end
  doc.gone = true
  follow.forget(doc.buf)
  if docs[doc.buf] == doc then
    docs[doc.buf] = nil
  end
  if by_path[doc.path] == doc then
    by_path[doc.path] = nil
  end
end

--- @param buf integer
--- @return cursord.Doc? # the document of a buffer
function M.get(buf)
  return docs[buf]
end

--- @param ws cursord.Workspace
--- @return cursord.Doc[] # the documents of a workspace
function M.of(ws)
  return vim.tbl_filter(function(doc)
    return doc.ws == ws
  end, vim.tbl_values(docs))
end

--- The document of a workspace's file, if it is in a buffer.
--- @param ws cursord.Workspace
--- @param rel string
--- @return cursord.Doc?
function M.at(ws, rel)
  return by_path[M.absolute(ws, rel)]
end

--- @param ws cursord.Workspace
--- @param rel string
--- @return string
function M.absolute(ws, rel)
  return vim.startswith(rel, '/') and rel or vim.fs.joinpath(ws.root, rel)
end

--- The name of a file for commands and messages: relative to the current directory, if the file is below it.
--- @param ws cursord.Workspace
--- @param rel string
--- @return string
function M.name(ws, rel)
  return vim.fn.fnamemodify(M.absolute(ws, rel), ':.')
end

--- Makes a buffer a document, if its file is in an open workspace.
--- @param buf integer
function M.attach(buf)
  if not api.nvim_buf_is_loaded(buf) or vim.bo[buf].buftype ~= '' then
    return
  end
  local name = api.nvim_buf_get_name(buf)
  local path = name ~= '' and real(name) or nil
  local old = docs[buf]
  if old and old.path == path then
    return
  end
  if old then
    forget(old)
    require('cursord.review.view').clear(buf)
  end
  local ws, rel = workspace_of(path or '')
  if not path or not ws or not rel then
    return
  end
  --- @type cursord.Doc
  local doc = {
    buf = buf,
    path = path,
    rel = rel,
    ws = ws,
    reviewed = false,
    open = false,
    version = 0,
    telling = 0,
    cost = 0,
    wrote = {},
    back = {},
    unsaved = {},
    steps = {},
    merged = {},
    saves = history.saves(buf),
  }
  docs[buf], by_path[path] = doc, doc
  if not old then
    api.nvim_buf_attach(buf, false, {
      on_lines = function()
        local now = docs[buf]
        if not now then
          return true
        end
        if now.reviewed or now.open then
          report.soon(now)
        end
      end,
      on_reload = function()
        if docs[buf] and docs[buf].reviewed then
          report.soon(docs[buf])
        end
      end,
      on_detach = function()
        if docs[buf] then
          forget(docs[buf])
        end
      end,
    })
  end
  if not vim.bo[buf].modified then
    asread.catch_up(buf, path)
    follow.compare(buf, path)
    report.holds(doc)
  elseif not ws.diffs[rel] and #ws:busy() == 0 and asread.began_on(buf, path) then
    report.holds(doc, true) -- what the agent writes from now on is new to the text
  end
  local diff = ws.diffs[rel]
  if diff then
    M.show(ws, diff)
  end
end

--- Reports that a buffer was saved. Its text is then a person's, even while a command of an agent runs. Neovim also ends
--- writes that have failed or that the person has refused with BufWritePost.
--- @param buf integer
--- @param path string the file that was written
--- @return boolean # false if the buffer's file was not written
function M.written(buf, path)
  M.attach(buf)
  local doc = docs[buf]
  if not doc or real(path) ~= doc.path then
    return false -- the text was written to another file
  elseif vim.bo[buf].modified and not history.is_saved_since(buf, doc.saves) then
    doc.writing = nil
    return false
  end
  local behind = #doc.unsaved > 0 and history.history(buf) or {}
  for _, one in ipairs(doc.unsaved) do
    doc.wrote[#doc.wrote + 1] = behind[one.state] and one or nil -- the daemon has taken back what was undone
  end
  doc.unsaved, doc.saves, doc.overtaken = {}, history.saves(buf), nil
  if doc.reviewed or not vim.b[buf].cursord_plain then
    follow.compare(buf, doc.path)
  end
  report.saved(doc)
  return true
end

--- @param buf integer that Neovim has read again
function M.reloaded(buf)
  local doc = docs[buf]
  if doc then
    doc.saves = math.min(doc.saves, history.saves(buf)) -- 'undofile' may have brought another number
    doc.merged = vim.bo[buf].modified and doc.merged or {}
  end
  local diff = doc and doc.ws.diffs[doc.rel]
  if doc and diff and follow.reloading ~= buf then
    require('cursord.review.view').clear(buf)
    M.show(doc.ws, diff)
  end
end

--- Brings a buffer and its marks up to date with a diff.
--- @param ws cursord.Workspace
--- @param diff cursord.Diff
function M.show(ws, diff)
  local doc = M.at(ws, diff.path)
  if not doc or not api.nvim_buf_is_loaded(doc.buf) then
    return
  end
  doc.reviewed = doc.reviewed or diff.state == 'pending'
  if vim.bo[doc.buf].modified then
    follow.settle(doc.buf, doc.path, doc.undoing ~= nil)
    report.holds(doc) -- the text that it had before is no common base any more
  end
  if doc.base and vim.bo[doc.buf].modified then
    local base, overtaken = follow.merge(doc.buf, doc.path, doc.base)
    doc.base, doc.overtaken = base, overtaken or doc.overtaken
    doc.lacks = doc.overtaken or doc.lacks
  end
  if not vim.bo[doc.buf].modified then
    doc.lacks, doc.known, doc.overtaken, doc.held = nil, nil, nil, nil
    local how = follow.disk(doc.buf, doc.path)
    doc.followed = how and history.state(doc.buf) or doc.followed
    if how then
      report.holds(doc)
    end
    if how == 'read' then
      require('cursord.review.view').clear(doc.buf)
    end
  else
    require('cursord.beneath').look(doc, diff)
  end
  follow.keep_end(doc.buf, diff.state == 'pending')
  if diff.state == 'clean' then
    follow.forget(doc.buf)
  end
  if report.in_sync(doc) then
    require('cursord.review.kept').look(doc, diff)
    require('cursord.review.view').update(doc.buf, ws, diff)
  else
    report.soon(doc)
  end
end

--- Prepares for a decision that writes a file: changes that the buffer followed before are not part of it.
--- @param ws cursord.Workspace
--- @param rel string
function M.will_write(ws, rel)
  local doc = M.at(ws, rel)
  if doc then
    doc.followed = nil
  end
end

--- Notes that a decision has written a file.
--- @param ws cursord.Workspace
--- @param rel string
--- @param decision integer
--- @param hunks string[]
function M.wrote(ws, rel, decision, hunks)
  local doc = M.at(ws, rel)
  if doc then
    report.wrote(doc, decision, hunks)
  end
end

--- Notes that a decision was made as edits of a buffer. When the person undoes them after a save, the decision is taken
--- back.
--- @param ws cursord.Workspace
--- @param rel string
--- @param decision integer
--- @param hunks string[]
--- @param files integer how many files the decision was about
--- @param accepts boolean whether it is an accept of conflicts
function M.edited(ws, rel, decision, hunks, files, accepts)
  local doc = M.at(ws, rel)
  if doc then
    follow.settle(doc.buf, doc.path)
    local made = { decision = decision, hunks = hunks, files = files } --- @type cursord.Made
    made.state = history.state(doc.buf)
    made.accepts = accepts and (vim.bo[doc.buf].modified and 'text' or 'file') or nil
    table.insert(doc.unsaved, made)
  end
end

--- Calls done when the daemon knows the text of all buffers of a workspace that are under review.
--- @param ws cursord.Workspace
--- @param done fun()
function M.flush(ws, done)
  local left = 1
  local function one()
    left = left - 1
    if left == 0 then
      done()
    end
  end
  for _, doc in ipairs(M.of(ws)) do
    if doc.reviewed then
      left = left + 1
      report.tell(doc, one)
    end
  end
  one()
end

--- Makes the edits of an answer in the buffers that it names. In each buffer they are one step for undo.
--- @param ws cursord.Workspace
--- @param all { path: string, version: integer, edits: cursord.TextEdit[] }[]
--- @return boolean # false if a buffer has changed meanwhile and was left alone
function M.apply(ws, all)
  local ok = true
  for _, one in ipairs(all) do
    local doc = M.at(ws, one.path)
    ok = doc ~= nil and report.edit(doc, one.version, one.edits) and ok
    if doc then
      report.tell(doc)
    end
  end
  return ok
end

workspace.on('diff', function(ws, diff)
  M.show(ws, diff)
end)

--- @param diffs table<string, cursord.Diff>
workspace.on('reset', function(ws, diffs)
  for path in pairs(diffs) do
    local doc = M.at(ws, path)
    if doc then
      require('cursord.review.view').clear(doc.buf)
    end
  end
end)

workspace.on('down', function(ws)
  for _, doc in ipairs(M.of(ws)) do
    doc.open, doc.named, doc.tick = false, nil, nil
  end
end)

workspace.on('ready', function(ws)
  for _, buf in ipairs(api.nvim_list_bufs()) do
    M.attach(buf)
  end
  for _, doc in ipairs(M.of(ws)) do
    report.holds(doc)
    if doc.reviewed then
      report.tell(doc)
    end
  end
end)

return M
