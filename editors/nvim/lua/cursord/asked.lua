--- What agents ask, as lines for people.
local answers = require('cursord.answers')
local workspace = require('cursord.workspace')

local M = {}

--- @class cursord.ApprovalLine what a line of the list answers
--- @field approval cursord.Approval
--- @field option? cursord.ApprovalOption
--- @field text? boolean it asks for a text

--- Characters that change the direction of text, or are not seen, in words.
--- @param text string
--- @return string[] lines
local function lines_of(text)
  for _, pattern in ipairs({
    '\226\128[\139-\143\168-\174]',
    '\226\129[\160-\175]',
    '\239\187\191',
    '\194\173',
  }) do
    text = text:gsub(pattern, function(char)
      return ('<U+%04X>'):format(vim.fn.char2nr(char))
    end)
  end
  return vim.split(text:gsub('%z', '^@'):gsub('\n+$', ''), '\n', { plain = true })
end

local heads = {
  permission = 'The agent asks for permission: ',
  question = 'The agent asks: ',
  plan = 'The agent has a plan: ',
}

--- Whose question it is: the title of the session, and what tells it from sessions with the same title.
--- @param a cursord.Approval
--- @return string # "Session: TITLE"
function M.who(a)
  local ws = workspace.at(a.workspace)
  local session, turn = ws and ws.sessions[a.sessionId], ws and ws.turns[a.turnId]
  local title = session and session.title or turn and turn.prompt or a.sessionId
  title = vim.trim(table.concat(lines_of(title), ' '):gsub('%c', ' '))
  if session and session.attempt then
    title = ('%s, attempt %d'):format(title, session.attempt.number)
  end
  if vim.tbl_count(workspace.all()) > 1 then
    title = ('%s, in %s'):format(title, vim.fs.basename(a.workspace))
  end
  return 'Session: ' .. title
end

--- What a person reads.
--- @param a cursord.Approval
--- @return string[] lines
--- @return table<integer, cursord.ApprovalLine> what they answer, by line
function M.lines(a)
  local lines, answer = {}, {}
  local title = a.title == a.command and '' or table.concat(lines_of(a.title), ' ')
  lines[1] = vim.trim((heads[a.kind] or 'The agent asks: ') .. title)
  for _, text in ipairs({ a.detail or '', a.command or '', table.concat(a.paths or {}, '\n') }) do
    if text ~= '' then
      for _, line in ipairs(lines_of(text)) do
        lines[#lines + 1] = '  ' .. line
      end
    end
  end
  local between = ' '
  for _, option in ipairs(a.options) do
    if option.label:find('^%s*%d') or #option.label == 1 then
      between = ' → ' -- "3 4" does not say which of them to type
    end
  end
  for i, option in ipairs(a.options) do
    lines[#lines + 1] = answers.word(a, i) .. between .. table.concat(lines_of(option.label), ' ')
    answer[#lines] = { approval = a, option = option }
  end
  if a.text then
    lines[#lines + 1] = a.kind == 'plan' and 'no, with a text of yours (:Cursord deny TEXT)'
      or 'a text of yours (:Cursord approve TEXT)'
    answer[#lines] = { approval = a, text = true }
  end
  if a.kind == 'question' then
    lines[#lines + 1] = answers.word(a) .. between .. answers.none.label
    answer[#lines] = { approval = a, option = answers.none }
  end
  return lines, answer
end

return M
