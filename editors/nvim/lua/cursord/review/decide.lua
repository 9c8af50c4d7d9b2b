--- Decisions: accept, reject, undo, redo; and remarks to the agent.
local counts = require('cursord.review.counts')
local docs = require('cursord.docs')
local meanwhile = require('cursord.meanwhile')
local message = require('cursord.message')
local patch = require('cursord.review.patch')
local rpc = require('cursord.rpc')
local undo_steps = require('cursord.review.steps')
local view = require('cursord.review.view')

local M = {}

local done_words = { accept = 'accepted', reject = 'rejected' }

--- Applies the answer to a decision.
--- @param verb string
--- @param ws cursord.Workspace
--- @param result cursord.Decided
--- @param hunks? string[] the ids of the decided hunks
--- @param writes? fun(path: string): boolean which files it writes
--- @param conflicts? boolean some of the hunks were conflicts with unsaved text
local function take(verb, ws, result, hunks, writes, conflicts)
  local applied = true
  local wrote = vim.tbl_filter(function(diff)
    return result.decision ~= nil and writes ~= nil and writes(diff.path)
  end, result.diffs)
  for _, diff in ipairs(wrote) do
    docs.will_write(ws, diff.path)
  end
  if result.edits and #result.edits > 0 then
    applied = docs.apply(ws, result.edits)
    local decided = verb == 'accept' or verb == 'reject'
    local accepts = verb == 'accept' and conflicts or false
    for _, one in ipairs(applied and decided and result.decision and result.edits or {}) do
      docs.edited(ws, one.path, result.decision, hunks or {}, #result.diffs, accepts)
    end
  end
  for _, diff in ipairs(result.diffs) do
    ws:put_diff(diff)
  end
  for _, diff in ipairs(wrote) do
    docs.wrote(ws, diff.path, result.decision, hunks or {})
  end
  return applied
end

--- Checks that the hunks are still as the person saw them. Returns the first problem, and the rev to send.
--- @param ws cursord.Workspace
--- @param parts cursord.Part[]
--- @return string? problem
--- @return integer? rev
local function check(ws, parts)
  local of --- @type cursord.Diff?
  for i, part in ipairs(parts) do
    local hunk, diff = counts.find(ws, part.id)
    if not hunk then
      return 'that hunk is decided already, or gone'
    elseif not vim.deep_equal(patch.changed_lines(hunk), patch.changed_lines(part.hunk)) then
      return 'that hunk has changed meanwhile; look at it again'
    end
    of = (i == 1 or of == diff) and diff or nil
  end
  return nil, of and of.rev
end

local busy = {} --- @type table<string, fun()[]> by workspace; one decision after the other

--- Whether decisions are on their way or queued.
--- @param ws cursord.Workspace
--- @return boolean
function M.is_busy(ws)
  return busy[ws.root] ~= nil or ws.decisions > 0
end

--- @param ws cursord.Workspace
--- @param run fun(done: fun())
local function in_turn(ws, run)
  local function start()
    docs.flush(ws, function()
      meanwhile.begin(ws)
      run(function()
        local nxt = table.remove(busy[ws.root], 1)
        if nxt then
          nxt()
        else
          meanwhile.finish(ws)
          busy[ws.root] = nil
        end
      end)
    end)
  end
  if busy[ws.root] then
    table.insert(busy[ws.root], start)
  else
    busy[ws.root] = {}
    start()
  end
end

--- @param verb 'accept'|'reject'
--- @param ws cursord.Workspace
--- @param selector table the selector of the protocol
--- @param parts? cursord.Part[] the hunks as the person saw them
--- @param after fun(ok: boolean, applied: integer, skipped: table[], decision?: integer)
local function send(verb, ws, selector, parts, after, again)
  local problem, rev = check(ws, parts or {})
  if problem then
    rpc.say(problem, vim.log.levels.WARN)
    return after(false, 0, {})
  end
  local params = vim.tbl_extend('force', { workspace = ws.root, rev = rev }, selector)
  local ids = counts.ids(ws, parts, selector.path)
  local writes, seen = counts.written(verb, ws, ids), counts.tied(ws, ids)
  local conflicts = counts.any_conflict(ws, ids)
  ws:decide('diff/' .. verb, params, function(err, result)
    if not err then
      if not take(verb, ws, result, ids, writes, conflicts) then
        rpc.say('the text changed at the same moment; decide again', vim.log.levels.WARN)
        return after(false, 0, {})
      end
      local skipped = result.skipped or {}
      for _, one in ipairs(skipped) do
        seen[one.hunk] = nil
      end
      -- The daemon counts more than one for a conflict in which the agent has changed other lines, too.
      local applied = math.min(result.applied, vim.tbl_count(seen))
      return after(true, applied, skipped, result.decision)
    end
    local present = err.data and err.data.diff
    if present then
      ws:put_diff(present)
    end
    if present and parts and not again and not check(ws, parts) then
      return send(verb, ws, selector, parts, after, true)
    end
    rpc.say_error(err)
    after(false, 0, {})
  end)
end

--- @class cursord.DecideOpts
--- @field comment? string
--- @field both? boolean for a conflict: keep the person's lines before the agent's
--- @field after? fun(ok: boolean)
--- @field quiet? boolean
--- @field turn? string decide only hunks in which this turn had a part
--- @field skipped? cursord.Skipped[] hunks of the selection that are left alone
--- @field step? cursord.Step of the undo history, which is made again
--- @field beside? integer how many hunks have lines of the person's beside the agent's, which stay
--- @field cut? integer of how many hunks only a part is decided
--- @field gone? boolean the reject of a new file, which is in a buffer: the file goes
--- @field bulk? boolean all hunks of a file, of a turn or of the workspace

local deciding = {} --- @type table<string, true> by hunk

--- Whether a decision about this hunk is on its way.
--- @param id string
--- @return boolean
function M.is_deciding(id)
  return deciding[id] or false
end

--- Hides hunks while a decision about them is on its way, or shows them again.
--- @param ws cursord.Workspace
--- @param parts cursord.Part[]
--- @param gone true?
local function set_deciding(ws, parts, gone)
  for _, part in ipairs(parts) do
    local _, diff = counts.find(ws, part.id)
    local doc = diff and docs.at(ws, diff.path)
    deciding[part.id] = gone
    if doc then
      view.deciding(doc.buf, part.id, gone or false)
    end
  end
  require('cursord.review.quickfix').refresh(ws)
  local buffer = package.loaded['cursord.review.buffer']
  if buffer then
    buffer.refresh(ws)
  end
end

local function finish(verb, ws, opts, ok, applied, skipped)
  if ok and not opts.quiet then
    local what = applied == 0 and 'nothing' or counts.decided(applied, opts.cut or 0)
    -- Why some were skipped matters more than what is left, and the last line of the screen has room for one.
    local left = #skipped == 0 and '; ' .. counts.left(ws) or ''
    local text = ('%s %s%s'):format(done_words[verb], what, left)
    if applied == 0 and #skipped == 0 then
      -- They were decided elsewhere meanwhile.
      text = ('nothing to %s any more%s'):format(verb, ws:pending() > 0 and left or '')
    end
    if (opts.beside or 0) > 0 then
      local places = counts.count(opts.beside, 'place')
      text = ('%s; both sides stay in %s'):format(text, places)
    end
    text = opts.gone and text .. '; the file is gone, u brings it back' or text
    if opts.bulk and verb == 'reject' and applied > 0 and #skipped == 0 then
      local way = require('cursord.ways').to('undo')
      text = ('%s; %s brings %s back'):format(text, way, applied == 1 and 'it' or 'them')
    end
    if #skipped > 0 then
      rpc.say(text .. counts.skipped(ws, skipped), vim.log.levels.WARN)
    else
      message.note(text)
    end
  end
  if opts.after then
    opts.after(ok)
  end
end

--- Decides whole hunks and parts of hunks, in one go.
--- @param verb 'accept'|'reject'
--- @param ws cursord.Workspace
--- @param parts cursord.Part[]
--- @param opts? cursord.DecideOpts
function M.parts(verb, ws, parts, opts)
  opts = opts or {}
  local steps = {} --- @type { selector: table, parts: cursord.Part[] }[]
  local whole = {} --- @type cursord.Part[]
  for _, part in ipairs(parts) do
    if not part.lines then
      whole[#whole + 1] = part
    end
  end
  if #whole > 0 then
    local ids = vim.tbl_map(function(part)
      return part.id
    end, whole)
    local selector = { hunks = ids, comment = opts.comment, both = opts.both or nil }
    -- Of a hunk in a copy, an accept keeps both sides by itself.
    selector.replace = verb == 'accept' and #whole == 1 and whole[1].hunk.yours and not opts.both
      or nil
    steps[#steps + 1] = { selector = selector, parts = whole }
  end
  opts.cut = 0
  for _, part in ipairs(parts) do
    if part.lines then
      opts.cut = opts.cut + 1
      local selector = { hunks = { part.id }, lines = part.lines, comment = opts.comment }
      steps[#steps + 1] = { selector = selector, parts = { part } }
    end
  end
  for _, part in ipairs(verb == 'reject' and whole or {}) do
    local hunk, diff = counts.find(ws, part.id)
    local new = hunk and diff and diff.kind == 'created' and not hunk.isolated
    opts.gone = opts.gone or new and docs.at(ws, diff.path) ~= nil
  end
  local of, decisions = opts.step or undo_steps.begin(verb, ws, parts), {}
  set_deciding(ws, whole, true)
  in_turn(ws, function(done)
    local applied = 0
    local function stop(ok)
      set_deciding(ws, whole, nil)
      undo_steps.finish(of, decisions)
      finish(verb, ws, opts, ok, applied, opts.skipped or {})
      done()
    end
    local function step(i)
      if not steps[i] then
        return stop(true)
      end
      send(verb, ws, steps[i].selector, steps[i].parts, function(ok, n, _, decision)
        if not ok then
          return stop(false)
        end
        decisions[#decisions + 1] = decision
        applied = applied + n
        -- The next part's lines may have moved: report the text first.
        docs.flush(ws, function()
          step(i + 1)
        end)
      end)
    end
    step(1)
  end)
end

--- Decides all hunks of a file, of a turn or of the workspace.
--- @param verb 'accept'|'reject'
--- @param ws cursord.Workspace
--- @param path? string
--- @param opts? cursord.DecideOpts
function M.all(verb, ws, path, opts)
  opts = opts or {}
  opts.bulk = true
  in_turn(ws, function(done)
    local selector = path and { path = path }
      or opts.turn and { turnId = opts.turn }
      or { all = true }
    if (path and not ws.diffs[path]) or (not path and ws:pending() == 0) then
      rpc.say('nothing to review' .. (path and ' in ' .. path or ''))
      return done()
    end
    local function go()
      local of = undo_steps.begin(verb, ws, undo_steps.of(verb, ws, path, opts.turn))
      opts.beside = verb == 'accept' and counts.yours(ws, path, opts.turn) or 0
      send(verb, ws, selector, nil, function(ok, applied, skipped, decision)
        undo_steps.finish(of, { decision })
        finish(verb, ws, opts, ok, applied, skipped)
        done()
      end)
    end
    if verb == 'accept' and not opts.turn then
      require('cursord.review.rivals').unless(ws, path, go, done)
    else
      go()
    end
  end)
end

--- Undoes the latest decision of the workspace, or redoes it.
--- @param verb 'undo'|'redo'
--- @param ws cursord.Workspace
--- @param after? fun(restored?: string) gets the id of the first hunk that an undo has brought back
function M.step(verb, ws, after)
  in_turn(ws, function(done)
    local restored = require('cursord.review.restored')
    local before = restored.now(ws)
    require('cursord.review.back').will_undo(ws)
    ws:decide('diff/' .. verb, { workspace = ws.root }, function(err, result)
      if err then
        rpc.say_error(err)
      else
        take(verb, ws, result)
        if verb == 'undo' and result.step then
          require('cursord.review.back').was_undone(ws, result.step.decision)
        elseif result.step then
          undo_steps.was_redone(ws, result.step.decision)
        end
        local past = verb == 'undo' and 'undone' or 'redone'
        local what = counts.step(result.step, result.diffs)
        message.note(('%s: %s; %s'):format(past, what, counts.left(ws)))
      end
      if after then
        after(verb == 'undo' and not err and restored.first(ws, before) or nil)
      end
      done()
    end)
  end)
end

--- Takes a session back to before a turn.
--- @param ws cursord.Workspace
--- @param params table of session/rewind
--- @param after cursord.Callback
function M.rewind(ws, params, after)
  in_turn(ws, function(done)
    ws:decide('session/rewind', params, function(err, result)
      if not err then
        take('rewind', ws, result)
      end
      after(err, result)
      done()
    end)
  end)
end

--- Takes files outside of the workspace off the list. They can only be looked at.
--- @param ws cursord.Workspace
--- @param path? string one of these files; all if it is missing
function M.dismiss(ws, path)
  in_turn(ws, function(done)
    local params = { workspace = ws.root, path = path, all = path == nil or nil }
    rpc.request('diff/dismiss', params, function(err, result)
      if err then
        rpc.say_error(err)
      else
        message.note(counts.dismissed(result.dismissed))
      end
      done()
    end)
  end)
end

--- @param ws cursord.Workspace
--- @param id string
--- @param text? string the person is asked for it if it is missing
function M.comment(ws, id, text)
  local function send_comment(words)
    if not words or words == '' then
      return
    end
    rpc.request('diff/comment', { workspace = ws.root, hunk = id, text = words }, function(err)
      if err then
        rpc.say_error(err)
      else
        message.note('the agent gets this with its next prompt')
      end
    end)
  end
  if text and text ~= '' then
    send_comment(text)
  else
    vim.ui.input({ prompt = 'Comment: ' }, send_comment)
  end
end

return M
