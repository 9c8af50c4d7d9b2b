--- Which words answer what agents ask. A word means the same to "cursord approve" (cmd/cursord/internal/approve).
local M = {}

--- The answer with which a question ends without one. Its options do not list it.
--- @type cursord.ApprovalOption
M.none =
  { id = 'cursord:none', label = 'no answer; the agent goes on without one', kind = 'rejectOnce' }

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
  return M.option(a, { 'rejectOnce', 'rejectAlways' }) or a.kind == 'question' and M.none or nil
end

--- @param a cursord.Approval
--- @param id string
--- @return cursord.ApprovalOption?
local function by_id(a, id)
  for _, option in ipairs(a.options) do
    if option.id == id then
      return option
    end
  end
end

--- Whether an answer says no.
--- @param a cursord.Approval
--- @param id string its id; '' for a text alone
--- @return boolean
function M.is_no(a, id)
  local option = id == M.none.id and M.none or by_id(a, id)
  return option and vim.startswith(option.kind, 'reject') or id == '' and a.kind == 'plan'
end

local function same(one, other)
  return vim.fn.tolower(one) == vim.fn.tolower(other)
end

--- Whether another answer than the option id is called like a word.
--- @param a cursord.Approval
--- @param word string
--- @param id string
local function named(a, word, id)
  for _, option in ipairs(a.options) do
    if option.id ~= id and same(option.label, word) then
      return true
    end
  end
  return false
end

--- The word for an option: with a dot if another answer has the word as its name, as a person who types it may mean that one.
--- @param a cursord.Approval
--- @param word string
--- @param id string
--- @return string
local function word_for(a, word, id)
  while named(a, word, id) do
    word = word .. '.'
  end
  return word
end

--- The word that gives an answer: the number of an option, or n for none.
--- @param a cursord.Approval
--- @param n? integer
--- @return string
function M.word(a, n)
  return n and word_for(a, tostring(n), a.options[n].id) or word_for(a, 'n', M.none.id)
end

--- The words for all answers.
--- @param a cursord.Approval
--- @return string[]
function M.words(a)
  local words = {}
  for i in ipairs(a.options) do
    words[i] = M.word(a, i)
  end
  if M.no(a) == M.none then
    words[#words + 1] = M.word(a)
  end
  return words
end

--- The option that a word without quotes stands for: y, n and a as far as there are such options, then the numbers, then the ids.
--- @param a cursord.Approval
--- @param typed string
--- @return string? id
local function option_for(a, typed)
  local letters = {
    { 'y', M.option(a, { 'allowOnce' }) },
    { 'n', M.no(a) },
    { 'a', by_id(a, 'cursord:folder') },
  }
  for _, one in ipairs(letters) do
    if one[2] and same(word_for(a, one[1], one[2].id), typed) then
      return one[2].id
    end
  end
  for i, option in ipairs(a.options) do
    if same(M.word(a, i), typed) then
      return option.id
    end
  end
  return by_id(a, typed) and not named(a, typed, typed) and typed or nil
end

--- Reads an answer. Where the agent takes a text, a text in quotes may follow the option or stand alone; a plan takes one only
--- after a no.
--- @param a cursord.Approval
--- @param typed string
--- @return string? option its id, '' for a text alone; nil: this is no answer
--- @return string? text
function M.read(a, typed)
  typed = vim.trim(typed)
  local before, text = typed:match('^([^"]*)"(.*)$')
  if not before then
    return option_for(a, typed)
  end
  local inner = text:match('^(.*)"$')
  if not a.text or not inner or vim.trim(inner) == '' then
    return nil
  end
  before = vim.trim(before)
  if before == '' then
    return a.kind ~= 'plan' and '' or nil, inner
  end
  local id = option_for(a, before)
  local option = id and by_id(a, id)
  if not option or a.kind == 'plan' and vim.startswith(option.kind, 'allow') then
    return nil -- the agent would not get the text
  end
  return id, inner
end

--- Whether a text that is no answer was meant as one: a single character, a number, a yes or a no, or a text in quotes.
--- @param typed string
--- @return boolean
function M.meant(typed)
  typed = vim.trim(typed)
  local before = typed:match('^([^"]*)".*"$')
  if before then
    return before == '' or M.meant(before)
  end
  return vim.fn.strchars(typed) == 1
    or typed:find('^[%d.]+$') ~= nil
    or vim.list_contains({ 'yes', 'no' }, typed:lower())
end

return M
