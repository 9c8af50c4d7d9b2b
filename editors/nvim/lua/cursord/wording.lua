--- The daemon's texts for people who use Neovim. They name commands of the command line; here the same has other names.
local M = {}

--- What the daemon writes, and what is written here. SESSION stands for any word without spaces, REVISION for a number.
--- Earlier ones are tried first.
--- @type [string, string][]
M.commands = {
  { '(cursord run --sandbox enabled', '(:Cursord sandbox enabled' },
  { '(cursord run --auto-review', '(:Cursord autoreview on' },
  { '(cursord run --force', '(--force' },
  {
    'force and sandbox disabled (--force --sandbox disabled)',
    'force, in a shell (cursord run --force --sandbox disabled)',
  },
  { 'force (--force)', 'force, in a shell (cursord run --force)' },
  { '(--auto-review', '(:Cursord autoreview on' },
  { '(cursord run --mode agent; in cursord chat: /mode agent)', '(:Cursord mode agent)' },
  {
    'ask again with the transcript as context: cursord run --recap --session SESSION',
    'press R here: that asks your prompt again, with the transcript',
  },
  { '"cursord logs"', ':Cursord log' },
  { '(cursord logs)', '(:Cursord log)' },
  { '"cursord show SESSION"', '":!cursord show SESSION"' },
  { '"cursord doctor"', '":!cursord doctor"' },
  { '`cursord trust` in it', ':Cursord trust' },
  { 'workspace/trust {"workspace": …, "trusted": true} or "cursord trust"', ':Cursord trust' },
  { '"cursord trust" (workspace/trust)', ':Cursord trust' },
  { 'cancel it first: cursord cancel', 'cancel it first: :Cursord cancel' },
  { 'cursord sessions --all', ':Cursord sessions' },
  { 'List pending hunks: cursord diff', 'List pending hunks: :Cursord review' },
  { 'diff/dismiss (cursord dismiss)', ':Cursord dismiss' },
  { 'has changed since revision REVISION', 'has changed; decide again' },
  {
    'the cursord daemon was stopped; the next request starts it again',
    'stopped; the next command starts it',
  },
  { 'Undo (cursord undo)', ':Cursord undo' },
}

local patterns --- @type { from: string, to: string }[]?

--- @return { from: string, to: string }[]
local function compiled()
  patterns = patterns
    or vim.tbl_map(function(one)
      local from = vim.pesc(one[1]):gsub('SESSION', '(%%S+)'):gsub('REVISION', '%%d+')
      local to = one[2]:gsub('%%', '%%%%'):gsub('SESSION', '%%1')
      return { from = from, to = to }
    end, M.commands)
  return patterns
end

--- @param text string
--- @return string
function M.here(text)
  for _, one in ipairs(compiled()) do
    text = text:gsub(one.from, one.to)
  end
  return text
end

--- An error and what to do about it.
--- @param message string
--- @param hint? string
--- @return string
function M.error(message, hint)
  return M.here(message .. (hint and '\n  ' .. hint or ''))
end

return M
