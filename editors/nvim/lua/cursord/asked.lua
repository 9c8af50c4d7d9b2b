--- What agents ask, as lines for people, and which answer is a yes or a no.
local M = {}

--- @class cursord.ApprovalLine what a line of the list answers
--- @field approval cursord.Approval
--- @field option? cursord.ApprovalOption
--- @field text? boolean it asks for a text

--- The answer with which a question ends without one. Its options do not list it.
--- @type cursord.ApprovalOption
M.no_answer =
  { id = 'cursord:none', label = 'no answer; the agent goes on without one', kind = 'rejectOnce' }

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

--- What a person reads.
--- @param a cursord.Approval
--- @return string[] lines
--- @return table<integer, cursord.ApprovalLine> what they answer, by line
function M.lines(a)
  local lines, answers = {}, {}
  local title = a.title == a.command and '' or table.concat(lines_of(a.title), ' ')
  lines[1] = vim.trim((heads[a.kind] or 'The agent asks: ') .. title)
  for _, text in ipairs({ a.detail or '', a.command or '', table.concat(a.paths or {}, '\n') }) do
    if text ~= '' then
      for _, line in ipairs(lines_of(text)) do
        lines[#lines + 1] = '  ' .. line
      end
    end
  end
  for i, option in ipairs(a.options) do
    lines[#lines + 1] = ('%d %s'):format(i, table.concat(lines_of(option.label), ' '))
    answers[#lines] = { approval = a, option = option }
  end
  if a.text then
    lines[#lines + 1] = a.kind == 'plan' and 't no, with a text of yours' or 't a text of yours'
    answers[#lines] = { approval = a, text = true }
  end
  if a.kind == 'question' then
    lines[#lines + 1] = 'n ' .. M.no_answer.label
    answers[#lines] = { approval = a, option = M.no_answer }
  end
  return lines, answers
end

--- The first option of one of these kinds.
--- @param a cursord.Approval
--- @param kinds string[]
--- @return cursord.ApprovalOption?
function M.option(a, kinds)
  for _, kind in ipairs(kinds) do
    for _, option in ipairs(a.options) do
      if option.kind == kind then
        return option
      end
    end
  end
end

--- The answer that says no.
--- @param a cursord.Approval
--- @return cursord.ApprovalOption?
function M.no(a)
  return M.option(a, { 'rejectOnce', 'rejectAlways' })
    or a.kind == 'question' and M.no_answer
    or nil
end

return M
