--- The configuration: vim.g.cursord, and the defaults of all that it leaves out.
local M = {}

--- Whether the person has set 'statusline'. Our windows then leave theirs alone.
M.own_statusline = vim.api.nvim_get_option_info2('statusline', { scope = 'global' }).was_set

--- @class (exact) cursord.Config
--- @field bin string The program, by name or path.
--- @field autostart boolean Connect when Neovim starts, instead of at the first command.
--- @field root_markers string[] Files and folders that mark the root of a workspace.
--- @field root? fun(bufnr: integer): string? The root for a buffer; overrides root_markers.
--- @field isolation? 'none'|'copy' Of new sessions; if it is missing, the daemon's setting counts.
--- @field picker 'auto'|'select'|'snacks'|'telescope'|'fzf-lua'|'mini.pick' The picker of sessions.
--- @field chat cursord.Config.Chat
--- @field review cursord.Config.Review
--- @field notify cursord.Config.Notify

--- @class (exact) cursord.Config.Chat
--- @field position 'right'|'left'|'below'|'tab'
--- @field width integer
--- @field height integer
--- @field input_height integer
--- @field follow boolean Scroll windows whose cursor is on the last line.
--- @field open_on_ask boolean Open the chat, without focus, when a prompt is sent.

--- @class (exact) cursord.Config.Review
--- @field overlay boolean
--- @field signs boolean
--- @field words boolean Highlight changed words inside changed lines.
--- @field on_open boolean Show pending hunks when their file is opened.
--- @field after_decide 'next'|'stay'
--- @field sign_text table<'add'|'change'|'delete'|'maybe', string>

--- @class (exact) cursord.Config.Notify
--- @field turn_end boolean
--- @field unfocused boolean Have the terminal notify while Neovim does not have the focus.
--- @field progress boolean Progress messages, on Neovim 0.12 and newer.

--- @type cursord.Config
local defaults = {
  bin = 'cursord',
  autostart = false,
  root_markers = { '.git', '.jj', '.hg' },
  root = nil,
  isolation = nil,
  picker = 'auto',
  chat = {
    position = 'right',
    width = 80,
    height = 20,
    input_height = 6,
    follow = true,
    open_on_ask = true,
  },
  review = {
    overlay = true,
    signs = true,
    words = true,
    on_open = true,
    after_decide = 'next',
    sign_text = { add = '┃', change = '┃', delete = '▔', maybe = '?' },
  },
  notify = { turn_end = true, unfocused = true, progress = true },
}

local choices = {
  isolation = { 'none', 'copy' },
  picker = { 'auto', 'select', 'snacks', 'telescope', 'fzf-lua', 'mini.pick' },
  ['chat.position'] = { 'right', 'left', 'below', 'tab' },
  ['review.after_decide'] = { 'next', 'stay' },
}

local optional = { root = 'function', isolation = 'string' }

--- Takes the valid settings of the user, and lists the problems of the others.
local function merge(default, user, at, problems)
  local out = {}
  for key, value in pairs(default) do
    out[key] = type(value) == 'table' and not vim.islist(value) and merge(value, {}, '', {})
      or value
  end
  for key, value in pairs(user) do
    local name = at .. tostring(key)
    local want = type(default[key])
    if default[key] == nil then
      want = at == '' and optional[key] or nil
    end
    if not want then
      problems[#problems + 1] = ('unknown key %q'):format(name)
    elseif type(value) ~= want then
      problems[#problems + 1] = ('%s must be a %s, not a %s'):format(name, want, type(value))
    elseif choices[name] and not vim.list_contains(choices[name], value) then
      problems[#problems + 1] = ('%s must be one of %s'):format(
        name,
        table.concat(choices[name], ', ')
      )
    elseif want == 'table' and not vim.islist(default[key]) then
      out[key] = merge(default[key], value, name .. '.', problems)
    else
      out[key] = value
    end
  end
  return out
end

local resolved --- @type cursord.Config?
local problems --- @type string[]

--- The configuration in use. vim.g.cursord is read once, at the first use.
--- @return cursord.Config
function M.get()
  if not resolved then
    problems = {}
    local user = vim.g.cursord
    if type(user) == 'function' then
      local ok, result = pcall(user)
      if not ok then
        problems[#problems + 1] = 'vim.g.cursord failed: ' .. tostring(result)
      end
      user = ok and result or nil
    end
    if user ~= nil and type(user) ~= 'table' then
      problems[#problems + 1] = 'vim.g.cursord must be a table, or a function that returns one'
      user = nil
    end
    resolved = merge(defaults, user or {}, '', problems)
  end
  return resolved
end

--- The problems of vim.g.cursord.
--- @return string[]
function M.problems()
  M.get()
  return problems
end

--- Reads vim.g.cursord again.
function M.reload()
  resolved = nil
  return M.get()
end

return M
