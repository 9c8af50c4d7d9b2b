--- What agents ask: a float that does not take the focus, a list, and the answers. Nothing is answered by itself.
local asked = require('cursord.asked')
local keys = require('cursord.keys')
local message = require('cursord.message')
local notify = require('cursord.notify')
local rpc = require('cursord.rpc')
local workspace = require('cursord.workspace')

local api = vim.api
local M = {}

local ns = api.nvim_create_namespace('cursord_approvals')

--- @class cursord.Asking the question on the screen
--- @field win integer
--- @field id string
--- @field cut boolean the float has no room for all of it
--- @field drawn? number when Neovim has drawn it first, in milliseconds; nothing is drawn while a command line is open

local float --- @type cursord.Asking?
local list_buf --- @type integer?
local list_lines = {} --- @type table<integer, cursord.ApprovalLine>
local list_of = {} --- @type table<integer, string> the ids of the approvals, by line

--- How long a question must be on the screen before a key or a command may answer it, in milliseconds. Tests set this.
M.reading = 500

local function now()
  return vim.uv.hrtime() / 1e6
end

--- The pending approvals, in the order in which they were asked.
--- @return cursord.Approval[]
function M.pending()
  local list = {}
  for _, one in pairs(workspace.all()) do
    vim.list_extend(list, vim.tbl_values(one.approvals))
  end
  table.sort(list, function(a, b)
    return a.createdAt < b.createdAt or a.createdAt == b.createdAt and a.id < b.id
  end)
  return list
end

--- Answers an approval. The daemon's notification takes it off the screen, also if somebody else was first.
--- @param a cursord.Approval
--- @param option string its id; '' for a text alone
--- @param text? string
function M.answer(a, option, text)
  rpc.request(
    'approval/answer',
    { approvalId = a.id, optionId = option, text = text },
    function(err)
      if err and not (err.data and err.data.kind == 'conflict') then
        rpc.say_error(err)
      end
    end
  )
end

--- @param line cursord.ApprovalLine
local function choose(line)
  if line.option then
    return M.answer(line.approval, line.option.id)
  end
  local plan = line.approval.kind == 'plan'
  vim.ui.input({ prompt = plan and 'No to the plan, because: ' or 'The answer: ' }, function(text)
    if text and text ~= '' then
      M.answer(line.approval, '', text)
    end
  end)
end

--- @return boolean # false if Neovim closes no window now: the command line window is open, and its end calls again
local function close_float()
  if float and api.nvim_win_is_valid(float.win) then
    if not pcall(api.nvim_win_close, float.win, true) then
      return false
    end
  end
  float = nil
  return true
end

api.nvim_set_decoration_provider(api.nvim_create_namespace('cursord_approvals_drawn'), {
  on_win = function(_, win)
    if float and float.win == win then
      float.drawn = float.drawn or now()
    end
    return false
  end,
})

--- @param a cursord.Approval
--- @param more integer how many others are pending
local function open_float(a, more)
  local drawn = float and float.id == a.id and not float.cut and float.drawn or nil
  if not close_float() then
    return
  end
  local lines = asked.lines(a)
  local buf = api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = 'wipe'
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  api.nvim_buf_set_extmark(buf, ns, 0, 0, { end_row = 1, hl_group = 'CursordMaybe' })
  local width = math.max(math.min(80, vim.o.columns - 4), 10)
  local most = math.max(math.floor(vim.o.lines / 2), 3)
  local opened, win = pcall(api.nvim_open_win, buf, false, {
    relative = 'editor',
    anchor = 'NE',
    row = 1,
    col = vim.o.columns - 1,
    width = width,
    height = 1,
    style = 'minimal',
    border = 'single',
    zindex = 60,
    noautocmd = true,
    title = message.cut(
      ' :Cursord approve · deny · approvals' .. (more > 0 and (' (%d more) '):format(more) or ' '),
      width
    ),
  })
  if not opened then
    return -- the command line window is open: its end shows it
  end
  vim.wo[win].wrap, vim.wo[win].linebreak = true, true
  local height = api.nvim_win_text_height(win, {}).all
  api.nvim_win_set_config(win, { height = math.min(height, most) })
  float = { win = win, id = a.id, cut = height > most, drawn = drawn }
end

local function draw_list()
  if not list_buf or not api.nvim_buf_is_valid(list_buf) then
    return
  end
  local lines, first, old = {}, {}, list_of --- @type string[], table<string, integer>, table<integer, string>
  list_lines, list_of = {}, {}
  for _, a in ipairs(M.pending()) do
    local of, answers = asked.lines(a)
    first[a.id] = #lines + 1
    for i, line in ipairs(of) do
      lines[#lines + 1] = line
      list_lines[#lines], list_of[#lines] = answers[i], a.id
    end
    lines[#lines + 1] = ''
  end
  local rows = {} --- @type table<integer, integer> of the cursors, by window
  for _, win in ipairs(vim.fn.win_findbuf(list_buf)) do
    local row = api.nvim_win_get_cursor(win)[1]
    local id, from = old[row], row
    while id and old[from - 1] == id do
      from = from - 1
    end
    -- A key for a question that has gone must not answer another one: a first line is no answer.
    rows[win] = id and first[id] and first[id] + row - from or 1
  end
  vim.bo[list_buf].modifiable = true
  api.nvim_buf_set_lines(
    list_buf,
    0,
    -1,
    false,
    #lines > 0 and lines or { 'No agent asks anything.' }
  )
  vim.bo[list_buf].modifiable = false
  for win, row in pairs(rows) do
    api.nvim_win_set_cursor(win, { row, 0 })
  end
end

--- Shows the first question, and the list where it is open.
local function refresh()
  local pending = M.pending()
  if pending[1] then
    open_float(pending[1], #pending - 1)
  else
    close_float()
  end
  draw_list()
end

--- For 'winbar'.
--- @return string
function M.winbar()
  local width = api.nvim_win_get_width(vim.g.statusline_winid or 0)
  return require('cursord.winbar').keys(
    'Approvals',
    { '<CR> give this answer', 'q close', 'g?' },
    width
  )
end

--- Opens the list of what is pending: <CR> on an answer gives it.
function M.open()
  if list_buf and api.nvim_buf_is_valid(list_buf) and vim.fn.bufwinid(list_buf) > 0 then
    api.nvim_set_current_win(vim.fn.bufwinid(list_buf))
    return draw_list()
  elseif #M.pending() == 0 then
    return message.note('no agent asks anything')
  end
  local from = api.nvim_get_current_win()
  vim.cmd('botright 12split')
  require('cursord.windows').back_to(from)
  list_buf = api.nvim_create_buf(false, true)
  api.nvim_win_set_buf(0, list_buf)
  vim.bo[list_buf].bufhidden, vim.bo[list_buf].filetype = 'wipe', 'cursordapprovals'
  for name, value in pairs({
    number = false,
    relativenumber = false,
    signcolumn = 'no',
    wrap = true,
    linebreak = true,
    winbar = "%{%v:lua.require'cursord.approvals'.winbar()%}",
    statusline = ' Cursor: what agents ask%=%l/%L ',
  }) do
    api.nvim_set_option_value(name, value, { win = 0, scope = 'local' })
  end
  keys.map(list_buf, {
    {
      'give this answer',
      '<CR>',
      'n',
      function()
        local line = list_lines[api.nvim_win_get_cursor(0)[1]]
        if line then
          choose(line)
        end
      end,
    },
    { 'close', 'q', 'n', '<C-w>c' },
    { 'these keys', 'g?', 'n', keys.help },
  })
  draw_list()
end

--- The command line that the person types, or has just ended: when it was opened, and the question on the screen then.
local typing --- @type { at: number, id?: string }?

--- The approval that a key or a command answers, if the person has seen all of it before they began to type.
--- @return cursord.Approval?
local function seen()
  local a = M.pending()[1]
  local at, id = typing and typing.at or now(), typing and typing.id
  if id and not (a and a.id == id) then
    rpc.say('that question has ended: nothing was answered', vim.log.levels.WARN)
  elseif not a then
    rpc.say('no agent asks anything')
  elseif float and float.id == a.id and float.cut then
    rpc.say('read the whole question here, and answer with <CR>')
    M.open()
  elseif not float or float.id ~= a.id or not float.drawn or at - float.drawn < M.reading then
    rpc.say('this question has just come: read it, then answer', vim.log.levels.WARN)
    refresh()
  else
    return a
  end
end

--- Answers the question on the screen: with yes, the number of an answer, or a text.
--- @param arg string
function M.approve(arg)
  local a = seen()
  if not a then
    return
  end
  local option = arg == '' and asked.option(a, { 'allowOnce' }) or a.options[tonumber(arg) or 0]
  if option then
    M.answer(a, option.id)
  elseif a.kind == 'plan' and arg ~= '' and not tonumber(arg) then
    local text = 'a yes to a plan takes no text; :Cursord deny TEXT says no with it'
    rpc.say(text, vim.log.levels.WARN)
  elseif a.text and arg ~= '' and not tonumber(arg) then
    M.answer(a, '', arg)
  elseif arg ~= '' then
    local text = 'there is no answer %s: say a number from 1 to %d'
    rpc.say(text:format(arg, #a.options), vim.log.levels.WARN)
  else
    rpc.say('say which answer: :Cursord approve NUMBER', vim.log.levels.WARN)
  end
end

--- Says no to the question on the screen. The agent gets a text with a no to its plan.
--- @param text string
function M.deny(text)
  local a = seen()
  local option = a and asked.no(a)
  if not a then
    return
  elseif not option then
    rpc.say('no answer here means no: :Cursord approve NUMBER, or cancel', vim.log.levels.WARN)
  elseif text == '' or a.text and option ~= asked.no_answer then
    M.answer(a, option.id, text ~= '' and text or nil)
  elseif a.text then
    rpc.say('no answer takes no text; :Cursord approve TEXT answers', vim.log.levels.WARN)
  else
    rpc.say('this no takes no text; :Cursord deny says it', vim.log.levels.WARN)
  end
end

workspace.on('approval', function(_, a, before)
  if a.status == 'pending' and not before then
    notify.away('The agent asks: ' .. (a.command or a.title))
  end
  refresh()
end)
workspace.on('reset', refresh)

local group = api.nvim_create_augroup('cursord_approvals', {})
api.nvim_create_autocmd('CmdlineEnter', {
  group = group,
  pattern = ':',
  callback = function()
    typing = { at = now(), id = float and float.id }
  end,
})
api.nvim_create_autocmd('CmdlineLeave', {
  group = group,
  pattern = ':',
  callback = function()
    local line = typing
    vim.schedule(function() -- its command runs before this
      typing = typing ~= line and typing or nil
    end)
  end,
})
api.nvim_create_autocmd({ 'TabEnter', 'VimResized', 'CmdwinLeave' }, {
  group = group,
  callback = function()
    if #M.pending() > 0 then
      vim.schedule(refresh)
    end
  end,
})

return M
