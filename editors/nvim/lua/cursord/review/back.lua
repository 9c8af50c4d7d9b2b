--- Follows the undo history of buffers: has the daemon take back the decisions that the person has undone with "u", and
--- make again those that were redone.
local counts = require('cursord.review.counts')
local follow = require('cursord.follow')
local history = require('cursord.history')
local message = require('cursord.message')
local rpc = require('cursord.rpc')
local steps = require('cursord.review.steps')

local api = vim.api
local M = {}

--- @class cursord.Undone
--- @field decision integer
--- @field hunks string[]
--- @field step? cursord.Step
--- @field state? integer
--- @field accepts? 'file'|'text'

--- @class cursord.TakenBack
--- @field made cursord.Made the decision in a saved text
--- @field state integer the state in the undo history that taking it back has made

--- @class cursord.Doc
--- @field undone? cursord.TakenBack[] decisions that a command has taken back: "u" makes them again

--- Prepares for a command that takes a decision back: changes that buffers followed before are not part of it.
--- @param ws cursord.Workspace
function M.will_undo(ws)
  for _, doc in ipairs(require('cursord.docs').of(ws)) do
    doc.followed = nil
  end
end

--- Notes that a command has taken a decision back.
--- @param ws cursord.Workspace
--- @param decision? integer
function M.was_undone(ws, decision)
  for _, doc in ipairs(require('cursord.docs').of(ws)) do
    for i, made in ipairs(doc.followed and doc.wrote or {}) do
      if made.decision == decision then
        doc.undone = doc.undone or {}
        table.insert(doc.undone, { made = table.remove(doc.wrote, i), state = doc.followed })
        doc.checked = nil
        break
      end
    end
  end
end

--- Removes and returns the decisions that "u" is to make again: the text is between them and what has taken them back.
--- @param doc cursord.Doc
--- @param behind table<integer, true> the states behind the text
--- @param known table<integer, true> all states
--- @return cursord.Made[]
local function between(doc, behind, known)
  local made = {}
  doc.undone = vim.tbl_filter(function(one)
    local is = behind[one.made.state] and known[one.state] and not behind[one.state]
    made[#made + 1] = is and one.made or nil
    return known[one.state] and not is
  end, doc.undone or {})
  return made
end

--- The decisions that the person has undone in the buffer with "u", the latest first, and those that were redone: such as
--- leave the text alone, and others, the first one first.
--- @param doc cursord.Doc
--- @return cursord.Undone[] back
--- @return cursord.Step[] again
--- @return cursord.Made[] anew
local function turned(doc)
  local back, kept, anew, tick = {}, {}, {}, api.nvim_buf_get_changedtick(doc.buf)
  local none = #doc.wrote + #doc.steps + #doc.back + #(doc.undone or {}) == 0
  if none or doc.checked == tick then
    return back, {}, anew
  end
  doc.checked = tick
  local behind, known = history.history(doc.buf)
  for _, one in ipairs(doc.wrote) do
    if behind[one.state] or not vim.bo[doc.buf].modified then
      kept[#kept + 1] = one
    elseif known[one.state] then
      back[#back + 1] = one
    end
  end
  doc.wrote = kept
  doc.back = vim.tbl_filter(function(one)
    anew[#anew + 1] = behind[one.state] and one or nil
    return known[one.state] and not behind[one.state]
  end, doc.back)
  vim.list_extend(anew, between(doc, behind, known))
  table.sort(anew, function(a, b)
    return a.decision < b.decision
  end)
  local undone, again = steps.turned(doc, behind, known)
  for _, step in ipairs(undone) do
    for _, decision in ipairs(step.decisions) do
      local hunks = counts.ids(doc.ws, step.parts)
      back[#back + 1] = { decision = decision, hunks = hunks, step = step }
    end
  end
  table.sort(back, function(a, b)
    return a.decision > b.decision
  end)
  return back, again, anew
end

--- Ends what takes decisions back or makes them again: reports the text, and calls who waits for that.
--- @param doc cursord.Doc
--- @param said fun()
local function settle(doc, said)
  local waiting = doc.undoing or {}
  doc.undoing = nil
  require('cursord.report').tell(doc, function()
    said()
    for _, done in ipairs(waiting) do
      done()
    end
  end)
end

--- Has the daemon make these decisions again, in order. If it does not, the text of the redo is reported as the person's.
--- @param doc cursord.Doc
--- @param anew cursord.Made[]
local function make_again(doc, anew)
  doc.undoing = {}
  local files = {} --- @type table<string, true>
  local function said()
    local count = vim.tbl_count(files)
    if count > 1 then
      message.note(('made again in %d files: the decision was about all of them'):format(count))
    end
  end
  local function step(i)
    local one = anew[i]
    if not one then
      return settle(doc, said)
    end
    local params = { workspace = doc.ws.root, decision = one.decision }
    doc.ws:decide('diff/redo', params, function(err, result)
      if err then
        return settle(doc, said)
      end
      table.insert(doc.wrote, one)
      for _, diff in ipairs(result.diffs) do
        files[diff.path] = true
        doc.ws:put_diff(diff)
      end
      if vim.bo[doc.buf].modified and vim.uv.fs_stat(doc.path) then
        follow.knows(doc.buf) -- the person has typed since, or ":write" would ask about the file
      end
      step(i + 1)
    end)
  end
  step(1)
end

--- Brings a buffer to the text of its file, where the agent's side of a conflict is pending again because its accept is taken
--- back. If the person has undone more than that accept, the text stays.
--- @param doc cursord.Doc
--- @param one cursord.Undone
local function show_again(doc, one)
  if history.before(doc.buf, one.state) == history.state(doc.buf) then
    vim.bo[doc.buf].modified, vim.b[doc.buf].cursord_stamp = false, nil
    follow.disk(doc.buf, doc.path)
  end
end

--- Has the daemon take these decisions back, in order. If another decision was made since, the rest of the change is only
--- text, and the person is told.
--- @param doc cursord.Doc
--- @param back cursord.Undone[]
local function take_back(doc, back)
  doc.undoing = {}
  local files = {} --- @type table<string, true>
  local refused --- @type cursord.Undone?
  local reason --- @type string?
  local restored = require('cursord.review.restored')
  local before = restored.now(doc.ws)
  local function said()
    local count, accepted = vim.tbl_count(files), back[1].accepts
    -- The daemon may have recognised the text, and opened a conflict again, as another hunk.
    local is_back = reason
      and (counts.any_pending(doc.ws, back[1].hunks) or restored.first(doc.ws, before, doc.rel))
    if is_back and accepted and back[1].state then
      table.insert(doc.back, back[1])
    end
    if refused and not is_back then
      rpc.say('u did not take the decision back: ' .. reason, vim.log.levels.WARN)
    elseif count > 1 then
      message.note(('taken back in %d files: the decision was about all of them'):format(count))
    elseif (count == 1 or is_back) and (back[1].step or accepted) then
      local verb = accepted and 'accept' or back[1].step.verb
      message.note(('the %s is taken back; %s'):format(verb, counts.left(doc.ws)))
    end
  end
  local function finish()
    if refused or not back[1].accepts then
      return settle(doc, said)
    end
    local report = require('cursord.report')
    local function look()
      if restored.first(doc.ws, before, doc.rel) then
        return settle(doc, said)
      end
      show_again(doc, back[1])
      report.send(doc, function()
        steps.put_ahead(doc, 'accept', restored.parts(doc.ws, before, doc.rel), back[1].decision)
        settle(doc, said)
      end)
    end
    report.send(doc, function()
      report.ask(doc, look)
    end)
  end
  local function step(i)
    local one = back[i]
    if not one then
      return finish()
    elseif one.step and counts.any_pending(doc.ws, one.hunks) then
      return step(i + 1) -- it was taken back otherwise
    end
    local function undo()
      local params = { workspace = doc.ws.root, decision = one.decision }
      doc.ws:decide('diff/undo', params, function(err, result)
        if err then
          refused = err.data and err.data.kind == 'conflict' and one or nil
          reason = err.message
          if reason == 'another decision was made since' then
            local way = require('cursord.ways').to('undo')
            reason = ('another was made since; %s takes them back one by one'):format(way)
          end
          return finish()
        end
        require('cursord.docs').apply(doc.ws, result.edits or {})
        for _, diff in ipairs(result.diffs) do
          files[diff.path] = true
          doc.ws:put_diff(diff)
        end
        files[doc.rel] = files[doc.rel] or one.accepts or nil
        if one.state and (one.accepts or not vim.bo[doc.buf].modified) then
          table.insert(doc.back, one)
        end
        step(i + 1)
      end)
    end
    if one.accepts == 'file' then
      require('cursord.report').send(doc, undo) -- the conflict is open again beside the text from before its accept
    else
      undo()
    end
  end
  step(1)
end

--- Has the daemon take back the decisions that the person has undone in the buffer, and make again those that were redone.
--- Returns whether decisions are still being taken back.
--- @param doc cursord.Doc
--- @return boolean
function M.takes_back(doc)
  if not doc.undoing then
    local back, again, anew = turned(doc)
    for _, step in ipairs(again) do
      vim.schedule(function()
        require('cursord.review.decide').parts(step.verb, doc.ws, step.parts, { step = step })
      end)
    end
    if #back > 0 then
      take_back(doc, back)
    elseif #anew > 0 then
      make_again(doc, anew)
    end
  end
  return doc.undoing ~= nil
end

return M
