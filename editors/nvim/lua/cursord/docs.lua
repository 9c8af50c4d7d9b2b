--- Buffers and files: buffers without changes follow the disk, and the text of others is told to the daemon.
local rpc = require('cursord.rpc')
local workspace = require('cursord.workspace')

local api = vim.api
local M = {}

--- @class cursord.Doc
--- @field buf integer
--- @field path string absolute, without links
--- @field rel string in its workspace
--- @field ws cursord.Workspace
--- @field reviewed boolean there were hunks in it
--- @field open boolean the daemon has it open
--- @field version integer
--- @field tick? integer 'changedtick' of the text that the daemon knows
--- @field cost number milliseconds that telling the text takes
--- @field left? integer the state of the buffer's history before the disk was last followed
--- @field wrote table<integer, integer> the decision by the state that it left
--- @field timer? uv.uv_timer_t

local docs = {} --- @type table<integer, cursord.Doc>
local by_path = {} --- @type table<string, cursord.Doc>

--- Typing is told after a pause, a longer one for long texts.
local pause, pause_factor = 80, 8

--- @return string? # without links; a file that is not there has a folder
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
  if doc.open then
    doc.open = false
    rpc.notify('document/didClose', { uri = vim.uri_from_fname(doc.path) })
  end
  require('cursord.follow').forget(doc.buf)
  if docs[doc.buf] == doc then
    docs[doc.buf] = nil
  end
  if by_path[doc.path] == doc then
    by_path[doc.path] = nil
  end
end

--- The document of a buffer.
--- @param buf integer
--- @return cursord.Doc?
function M.get(buf)
  return docs[buf]
end

--- The document of a file of a workspace, if a buffer has it.
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

--- A buffer's text as a file has it. An empty buffer has no line, and one with an empty line has one.
--- @param buf integer
--- @return string
function M.text(buf)
  local text = table.concat(api.nvim_buf_get_lines(buf, 0, -1, false), '\n')
  if
    text == ''
    and api.nvim_buf_call(buf, function()
      return vim.fn.line2byte(2)
    end) == -1
  then
    return ''
  end
  return vim.bo[buf].endofline and text .. '\n' or text
end

--- Whether the daemon knows the buffer's text.
--- @param doc cursord.Doc
local function in_sync(doc)
  if vim.bo[doc.buf].modified or doc.open then
    return doc.open and doc.tick == api.nvim_buf_get_changedtick(doc.buf)
  end
  return true
end

--- The decision that was taken back in the buffer by going back in its history.
--- @param doc cursord.Doc
--- @return integer?
local function taken_back(doc)
  if not next(doc.wrote) or not vim.bo[doc.buf].modified then
    return nil
  end
  local state = require('cursord.follow').state(doc.buf)
  local decision = doc.wrote[state]
  doc.wrote[state] = nil
  return decision
end

--- Remembers that a decision changed a file's buffer, which is as the disk again.
--- @param ws cursord.Workspace
--- @param rel string
--- @param decision integer
function M.wrote(ws, rel, decision)
  local doc = M.at(ws, rel)
  if doc and doc.left then
    doc.wrote[doc.left], doc.left = decision, nil
  end
end

--- Tells the daemon the buffer's text, and gets the diff that fits it.
--- @param doc cursord.Doc
--- @param done? fun()
function M.report(doc, done)
  done = done or function() end
  if not api.nvim_buf_is_loaded(doc.buf) or in_sync(doc) or not doc.reviewed then
    return done()
  end
  local decision = taken_back(doc)
  if decision then
    rpc.request('diff/undo', { workspace = doc.ws.root, decision = decision }, function(err, result)
      local diffs = not err and result.diffs or {}
      M.apply(doc.ws, not err and result.edits or {})
      for _, diff in ipairs(diffs) do
        doc.ws:put_diff(diff)
      end
      if #diffs > 1 then
        api.nvim_echo(
          { { ('this was decided in %d files, and is back in all'):format(#diffs) } },
          false,
          {}
        )
      end
      M.report(doc, done) -- if something else was decided meanwhile, it is just text
    end)
    return
  end
  local began = vim.uv.hrtime()
  doc.version = doc.version + 1
  doc.tick = api.nvim_buf_get_changedtick(doc.buf)
  rpc.notify(doc.open and 'document/didChange' or 'document/didOpen', {
    uri = vim.uri_from_fname(doc.path),
    version = doc.version,
    text = M.text(doc.buf),
  })
  doc.open = true
  doc.cost = (vim.uv.hrtime() - began) / 1e6
  rpc.request('diff/list', { workspace = doc.ws.root, path = doc.rel }, function(err, result)
    if not err and docs[doc.buf] == doc and doc.tick == api.nvim_buf_get_changedtick(doc.buf) then
      doc.ws:put_diff(
        result.diffs[1]
          or { path = doc.rel, state = 'clean', hunks = {}, kind = 'modified', rev = 0 }
      )
    end
    done()
  end)
end

--- @param doc cursord.Doc
local function report_soon(doc)
  doc.timer = doc.timer or assert(vim.uv.new_timer())
  doc.timer:start(
    math.floor(math.max(pause, doc.cost * pause_factor)),
    0,
    vim.schedule_wrap(function()
      if docs[doc.buf] == doc then
        M.report(doc)
      end
    end)
  )
end

--- Attaches to a buffer, if it is of a file in a known workspace.
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
  local ws, rel = nil, nil
  if path then
    ws, rel = workspace_of(path)
  end
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
    cost = 0,
    wrote = {},
  }
  docs[buf], by_path[path] = doc, doc
  if not old then
    api.nvim_buf_attach(buf, false, {
      on_lines = function()
        local now = docs[buf]
        if not now then
          return true
        end
        if now.reviewed then
          report_soon(now)
        end
      end,
      on_reload = function()
        if docs[buf] and docs[buf].reviewed then
          report_soon(docs[buf])
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
    require('cursord.follow').compare(buf, path)
  end
  local diff = ws.diffs[rel]
  if diff then
    M.show(ws, diff)
  end
end

--- A buffer was written.
--- @param buf integer
function M.written(buf)
  M.attach(buf)
  local doc = docs[buf]
  if doc and not vim.b[buf].cursord_plain then
    require('cursord.follow').compare(buf, doc.path)
  end
  if doc and doc.open then
    doc.version = doc.version + 1
    doc.tick = api.nvim_buf_get_changedtick(buf)
    rpc.notify('document/didSave', { uri = vim.uri_from_fname(doc.path), version = doc.version })
  end
end

--- A buffer was read again.
--- @param buf integer
function M.reloaded(buf)
  local doc = docs[buf]
  local diff = doc and doc.ws.diffs[doc.rel]
  if doc and diff and require('cursord.follow').reloading ~= buf then
    require('cursord.review.view').clear(buf)
    M.show(doc.ws, diff)
  end
end

--- Brings a buffer and its marks to what a diff says.
--- @param ws cursord.Workspace
--- @param diff cursord.Diff
function M.show(ws, diff)
  local doc = M.at(ws, diff.path)
  if not doc or not api.nvim_buf_is_loaded(doc.buf) then
    return
  end
  doc.reviewed = doc.reviewed or diff.state == 'pending'
  local follow = require('cursord.follow')
  if vim.bo[doc.buf].modified then
    follow.settle(doc.buf, doc.path)
  end
  if not vim.bo[doc.buf].modified then
    local how, left = follow.disk(doc.buf, doc.path)
    doc.left = how and left or doc.left
    if how == 'read' then
      require('cursord.review.view').clear(doc.buf)
    end
  end
  if diff.state == 'clean' then
    follow.forget(doc.buf)
  end
  if in_sync(doc) then
    require('cursord.review.view').update(doc.buf, ws, diff)
  else
    report_soon(doc)
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
  for _, doc in pairs(docs) do
    if doc.ws == ws and doc.reviewed then
      left = left + 1
      M.report(doc, one)
    end
  end
  one()
end

--- Does what an answer says to the buffers that it names, each as one step for undo.
--- @param ws cursord.Workspace
--- @param all { path: string, version: integer, edits: cursord.TextEdit[] }[]
--- @return boolean # false if a buffer is not what it was any more, and was left
function M.apply(ws, all)
  local ok = true
  for _, one in ipairs(all) do
    local doc = M.at(ws, one.path)
    if doc and doc.version == one.version and in_sync(doc) then
      require('cursord.follow').apply(doc.buf, one.edits)
    else
      ok = false
    end
    if doc then
      M.report(doc)
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
  for _, doc in pairs(docs) do
    if doc.ws == ws then
      doc.open, doc.tick = false, nil
    end
  end
end)

workspace.on('ready', function(ws)
  for _, buf in ipairs(api.nvim_list_bufs()) do
    M.attach(buf)
  end
  for _, doc in pairs(docs) do
    if doc.ws == ws and doc.reviewed then
      M.report(doc)
    end
  end
end)

return M
