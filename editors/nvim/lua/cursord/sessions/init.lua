--- The sessions of all folders: how lists show them, and what people do with them.
local rpc = require('cursord.rpc')
local times = require('cursord.times')
local workspace = require('cursord.workspace')

local M = {}

local most, preview_most = 500, 200

--- @class cursord.SessionEntry
--- @field session? cursord.Session nil for a new one
--- @field root string the folder
--- @field here boolean the folder is the current workspace
--- @field hunks integer the number of pending hunks in which the session had a part
--- @field text string
--- @field branch? string what is in front of a fork's title in a list

local function plain(text)
  return (text:gsub('%s*\n.*', ' …'))
end

--- @param session cursord.Session
--- @return string # "running", or "5 min ago"
function M.state(session)
  return session.state == 'idle' and times.age(session.updatedAt) or session.state
end

--- @param entry cursord.SessionEntry
--- @return string
local function line(entry)
  local s = entry.session --[[@as cursord.Session]]
  local about = { ('%d turn%s'):format(s.turns, s.turns == 1 and '' or 's'), M.state(s) }
  if s.isolation == 'copy' then
    about[#about + 1] = 'in a copy'
  end
  if entry.hunks > 0 then
    about[#about + 1] = ('%d hunk%s'):format(entry.hunks, entry.hunks == 1 and '' or 's')
  end
  if not entry.here then
    about[#about + 1] = vim.fn.fnamemodify(entry.root, ':~')
  end
  return ('%s%s  (%s)'):format(entry.branch or '', plain(s.title), table.concat(about, ', '))
end

--- What is in front of the title of a fork.
--- @param branch string of the session that it was forked from
--- @param last boolean no other fork of that session follows
--- @return string
local function below(branch, last)
  local above = vim.fn.strcharpart(branch, 0, 2 * 19):gsub('├', '│'):gsub('└', ' ')
  return above .. (last and '└ ' or '├ ')
end

--- Puts each fork below the session that it was forked from, the oldest fork first. The tree that changed last is the first.
--- @param entries cursord.SessionEntry[] the latest first
--- @return cursord.SessionEntry[]
local function as_tree(entries)
  local known, forks, grown, out = {}, {}, {}, {}
  for _, entry in ipairs(entries) do
    known[entry.session.id] = entry
  end
  local function origin(entry)
    local from = entry.session.forkedFrom
    return from and known[from.sessionId]
  end
  local function age(entry)
    return entry.session.createdAt .. entry.session.id
  end
  for _, entry in ipairs(entries) do
    local from = origin(entry)
    if from then
      forks[from] = forks[from] or {}
      table.insert(forks[from], entry)
    end
  end
  local function grow(entry, branch)
    if grown[entry] then
      return -- sessions of a forged file may be forked from each other
    end
    grown[entry], entry.branch, out[#out + 1] = true, branch, entry
    local of_it = forks[entry] or {}
    table.sort(of_it, function(a, b)
      return age(a) < age(b)
    end)
    for i, fork in ipairs(of_it) do
      grow(fork, below(branch, i == #of_it))
    end
  end
  for _, entry in ipairs(entries) do
    local root, passed = entry, {}
    while origin(root) and not passed[root] do
      passed[root], root = true, origin(root)
    end
    grow(root, '')
  end
  return out
end

--- Counts the pending hunks of each session.
--- @param roots string[] the folders that have pending hunks
--- @param done fun(counts: table<string, integer>) by session
local function count_hunks(roots, done)
  local counts, left = {}, #roots
  if left == 0 then
    return done(counts)
  end
  for _, root in ipairs(roots) do
    rpc.request('diff/list', { workspace = root }, function(_, result)
      for _, diff in ipairs(result and result.diffs or {}) do
        for _, hunk in ipairs(diff.hunks) do
          local of = {} --- @type table<string, true>
          for _, source in ipairs(hunk.sources or {}) do
            of[source.sessionId] = true
          end
          for id in pairs(of) do
            counts[id] = (counts[id] or 0) + 1
          end
        end
      end
      left = left - 1
      if left == 0 then
        done(counts)
      end
    end)
  end
end

--- Reads all sessions: those of the workspace first, the latest first.
--- @param ws cursord.Workspace
--- @param done fun(entries: cursord.SessionEntry[])
function M.read(ws, done)
  rpc.request('session/list', { limit = most }, function(err, listed)
    if err then
      return rpc.say_error(err)
    end
    rpc.request('workspace/list', vim.empty_dict(), function(_, folders)
      local roots = {}
      for _, one in ipairs(folders and folders.workspaces or {}) do
        roots[#roots + 1] = one.pendingHunks > 0 and one.workspace or nil
      end
      count_hunks(roots, function(counts)
        local here, others = {}, {}
        for _, session in ipairs(listed.sessions) do
          local entry = {
            session = session,
            root = session.workspace,
            here = session.workspace == ws.root,
            hunks = counts[session.id] or 0,
          }
          table.insert(entry.here and here or others, entry)
        end
        local all = vim.list_extend(as_tree(here), as_tree(others))
        for _, entry in ipairs(all) do
          entry.text = line(entry)
        end
        done(all)
      end)
    end)
  end)
end

--- Shows a session in the chat of its folder.
--- @param entry cursord.SessionEntry
function M.go(entry)
  local chat, ws = require('cursord.chat'), workspace.open_root(entry.root)
  chat.switch(ws, entry.session)
  chat.focus(ws)
end

--- @param entry cursord.SessionEntry
--- @param done fun() called when the title is stored
function M.rename(entry, done)
  vim.ui.input({ prompt = 'Title: ', default = entry.session.title }, function(title)
    if title and title ~= '' then
      local params = { sessionId = entry.session.id, title = title }
      rpc.request('session/update', params, function(err)
        if err then
          return rpc.say_error(err)
        end
        done()
      end)
    end
  end)
end

--- Begins another session with the transcript of one, and shows it in the chat.
--- @param entry cursord.SessionEntry
--- @param how? { turn?: string, isolation?: string } the last turn that it has, by default the last one that has ended, as where
--- the turn still runs or waits; and where its agent works, by default as in the session
--- @param before? fun() called before it is shown
function M.fork(entry, how, before)
  how = how or {}
  local params = { sessionId = entry.session.id, turnId = how.turn, isolation = how.isolation }
  rpc.request('session/fork', params, function(err, made)
    if err and how.turn and err.data and err.data.kind == 'busy' then
      return M.fork(entry, { isolation = how.isolation }, before)
    elseif err then
      return rpc.say_error(err)
    elseif before then
      before()
    end
    M.go({ session = made.session, root = entry.root, here = entry.here, hunks = 0, text = '' })
  end)
end

--- @param entry cursord.SessionEntry
--- @param done fun() called when the session is deleted
function M.delete(entry, done)
  local question = ('Delete "%s" and all that was said in it?'):format(
    require('cursord.message').cut(plain(entry.session.title), 30)
  )
  vim.ui.select({ 'Delete it', 'Keep it' }, { prompt = question }, function(choice)
    if choice ~= 'Delete it' then
      return
    end
    rpc.request('session/delete', { sessionId = entry.session.id }, function(err)
      if err then
        return rpc.say_error(err)
      end
      done()
    end)
  end)
end

--- The end of a session's transcript.
--- @param entry cursord.SessionEntry
--- @param done fun(lines: string[])
function M.preview(entry, done)
  if not entry.session then
    return done({ 'A new session' })
  end
  local params = { sessionId = entry.session.id, limit = preview_most }
  rpc.request('session/read', params, function(err, result)
    local lines, of = {}, {}
    for _, item in ipairs(not err and result.items or {}) do
      of[item.turnId] = of[item.turnId] or {}
      table.insert(of[item.turnId], item)
    end
    local function add(text)
      vim.list_extend(lines, vim.split(vim.trim(text or ''), '\n', { plain = true }))
      lines[#lines + 1] = ''
    end
    for _, turn in ipairs(not err and result.turns or {}) do
      add('## You\n\n' .. turn.prompt)
      add('## Cursor')
      for _, item in ipairs(of[turn.id] or {}) do
        if item.kind == 'tool' then
          add(require('cursord.tools').show(item, entry.root).lines[1])
        elseif item.kind ~= 'thinking' then
          add(item.text)
        end
      end
    end
    done(err and { err.message } or lines)
  end)
end

return M
