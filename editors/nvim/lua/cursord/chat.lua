--- The windows of the chat, and sending prompts.
local config = require('cursord.config')
local context = require('cursord.context')
local drafts = require('cursord.drafts')
local panes = require('cursord.panes')
local quiet = require('cursord.quiet')
local rpc = require('cursord.rpc')
local share = require('cursord.share')
local transcript = require('cursord.transcript')
local turns = require('cursord.turns')
local workspace = require('cursord.workspace')

local api = vim.api
local M = {}

--- @class cursord.Panel
--- @field shown? cursord.Transcript
--- @field input integer the buffer with the draft
--- @field origin? cursord.Origin the file that the person came from

local panels = {} --- @type table<cursord.Workspace, cursord.Panel>

--- @param ws cursord.Workspace
--- @return cursord.Panel
local function panel_of(ws)
  local panel = panels[ws]
  if panel and api.nvim_buf_is_valid(panel.input) then
    return panel
  end
  local buf = api.nvim_create_buf(false, true)
  api.nvim_buf_set_name(buf, ('cursord://input/%d/%s'):format(buf, vim.fs.basename(ws.root)))
  vim.b[buf].cursord_root = ws.root
  vim.bo[buf].bufhidden, vim.bo[buf].swapfile = 'hide', false
  vim.bo[buf].filetype = 'cursord_input'
  drafts.keep(buf, ws)
  panel = { input = buf, shown = panel and panel.shown, origin = panel and panel.origin }
  panels[ws] = panel
  return panel
end

--- The windows that show the chat, if it is open: of this tab page, or, with the position "tab", of any.
--- @param ws cursord.Workspace
--- @return integer? transcript
--- @return integer? input
local function windows(ws)
  local panel, above, below = panels[ws], nil, nil
  local own = config.get().chat.position == 'tab'
  for _, win in
    ipairs(panel and (own and api.nvim_list_wins() or api.nvim_tabpage_list_wins(0)) or {})
  do
    local buf = api.nvim_win_get_buf(win)
    if panel.shown and buf == panel.shown.buf then
      above = win
    elseif buf == panel.input then
      below = win
    end
  end
  return above, below
end

--- The transcript of the current session.
local function current(ws, panel)
  local shown = panel.shown
  if not shown or not api.nvim_buf_is_valid(shown.buf) or shown.session ~= ws.current then
    shown = ws.current and transcript.of(ws.current) or transcript.new(ws, ws.current)
    panel.shown = shown
  end
  return shown
end

--- Puts the current transcript into the windows that show the one before, of all tab pages.
--- @return cursord.Transcript
local function refresh(ws)
  local panel = panel_of(ws)
  local old = panel.shown
  local now = current(ws, panel)
  for _, win in ipairs(old and old ~= now and vim.fn.win_findbuf(old.buf) or {}) do
    api.nvim_win_set_buf(win, now.buf)
    panes.transcript(win)
    now.to_end(win, now.buf)
  end
  if old and old ~= now and not old.session then
    api.nvim_buf_delete(old.buf, { force = true })
  end
  drafts.follow(panel.input, ws.current)
  return now
end

--- Opens the chat of a workspace; that of another one in the tab page is closed. The cursor stays where it is.
--- @param ws cursord.Workspace
--- @return integer input the window of the input
function M.show(ws)
  local panel = panel_of(ws)
  for other in pairs(config.get().chat.position == 'tab' and {} or panels) do
    if other ~= ws then
      M.hide(other)
    end
  end
  local now = refresh(ws)
  local above, below = windows(ws)
  local cfg = config.get().chat
  local win = api.nvim_get_current_win()
  if not above then
    if cfg.position == 'tab' then
      vim.cmd.tabnew()
      above = api.nvim_get_current_win()
      local scratch = api.nvim_get_current_buf()
      api.nvim_win_set_buf(above, now.buf)
      vim.bo[scratch].bufhidden = 'wipe'
    else
      local place = vim.tbl_extend('error', share.place(), { win = -1 })
      above = api.nvim_open_win(now.buf, false, place)
    end
    panes.transcript(above)
    now.to_end(above, now.buf)
  end
  if not below then
    local height = share.input_height(api.nvim_win_get_height(above))
    local place = { split = 'below', win = above, height = height }
    below = api.nvim_open_win(panel.input, false, place)
    panes.set(below, vim.tbl_extend('error', panes.common, { winfixheight = true, winbar = '' }))
    require('cursord.windows').keep_height(below, above)
    if not config.own_statusline then
      panes.set(below, { statusline = ' Cursor: input%=%l,%c ' })
    end
    if cfg.position ~= 'tab' then
      share.keep(above, below)
    end
  end
  api.nvim_set_current_win(win)
  -- The windows open at once, so that keys go to the input; the transcript may load later.
  ws:choose(function()
    refresh(ws)
  end)
  return below
end

--- @param ws cursord.Workspace
--- @return boolean # whether the chat was open
function M.hide(ws)
  local above, below = windows(ws)
  for _, win in ipairs({ below or false, above or false }) do
    if win and not pcall(api.nvim_win_close, win, true) then
      -- Neovim does not close its last window.
      api.nvim_win_set_buf(win, context.file_buffer() or api.nvim_create_buf(true, false))
    end
  end
  return above ~= nil or below ~= nil
end

--- Remembers the person's file and selection, for @buffer and @selection.
local function remember(ws, selection)
  local buf, panel = context.file_buffer(), panel_of(ws)
  local old = panel.origin
  if not selection and old and old.buf == buf then
    -- A draft that names the selection keeps it.
    local draft = table.concat(api.nvim_buf_get_lines(panel.input, 0, -1, false), '\n')
    selection = draft:find('@selection', 1, true) and old.selection or nil
  end
  if buf then
    panel.origin = { buf = buf, selection = selection }
  end
end

--- Goes to the chat's input; if the chat is open, closes it.
--- @param ws cursord.Workspace
--- @param selection? table
function M.toggle(ws, selection)
  if not selection and M.hide(ws) then
    return
  end
  M.focus(ws, selection)
end

--- @param ws cursord.Workspace
--- @param selection? table
function M.focus(ws, selection)
  remember(ws, selection)
  local win = M.show(ws)
  if selection then
    local input = panel_of(ws).input
    local first = api.nvim_buf_get_lines(input, 0, 1, false)[1]
    if not first:find('@selection', 1, true) then
      api.nvim_buf_set_lines(input, 0, 1, false, { '@selection ' .. first })
    end
  end
  local typing = vim.fn.mode() == 'i' and api.nvim_get_current_win() == win -- the cursor is to stay
  api.nvim_set_current_win(win)
  vim.cmd(typing and '' or 'startinsert!')
end

--- Makes another session the current one; without a session, the next prompt begins one.
--- @param ws cursord.Workspace
--- @param session? cursord.Session
function M.switch(ws, session)
  ws:talk_with(session)
  refresh(ws)
end

--- Prompts that wait for a new session to be made.
local entering = {} --- @type table<cursord.Workspace, fun()[]>

--- Makes a new session current when its first turn has begun.
local function enter(ws, result)
  local shown = panel_of(ws).shown
  ws:talk_with(result.session)
  if shown and not shown.session and api.nvim_buf_is_valid(shown.buf) then
    shown:bind(result.session.id)
    shown:turn(result.turn)
  end
  refresh(ws)
end

--- @param ws cursord.Workspace
--- @return integer # the buffer with the draft
function M.input(ws)
  return panel_of(ws).input
end

--- Sends a prompt. If that fails, the prompt is in the input again.
--- @param ws cursord.Workspace
--- @param prompt string
--- @param opts? { origin?: cursord.Origin, context?: table[], new?: boolean, after?: fun() }
function M.send(ws, prompt, opts)
  opts = opts or {}
  local full = require('cursord.prompts').expand(ws.root, prompt)
  require('cursord.recall').remember(panel_of(ws).input, prompt, full)
  local more, problems = context.expand(ws, full, opts.origin or panel_of(ws).origin)
  if #problems > 0 then
    rpc.say(table.concat(problems, '; '), vim.log.levels.WARN)
    return drafts.give_back(panel_of(ws).input, prompt)
  end
  if opts.new then
    M.switch(ws)
  end
  local images = require('cursord.images').take(ws)
  local all = vim.list_extend(vim.list_extend({}, opts.context or {}), more)
  vim.list_extend(all, images)
  local function start()
    local fresh = not ws.current
    if fresh and entering[ws] and not opts.new then
      table.insert(entering[ws], start)
      return
    end
    entering[ws] = entering[ws] or fresh and {} or nil
    turns.start(ws, {
      workspace = ws.root,
      sessionId = ws.current,
      prompt = full,
      context = #all > 0 and all or nil,
      model = fresh and ws.next_model or nil,
      mode = fresh and ws.next_mode or nil,
    }, function(result)
      if result then
        ws.mine[result.turn.id] = true
        if opts.after then
          opts.after()
        end
      end
      if result and fresh then
        enter(ws, result)
      elseif not result then
        require('cursord.images').give_back(ws, images)
        local kept = opts.context and #opts.context > 0 and '@selection ' or ''
        drafts.give_back(panel_of(ws).input, kept .. prompt)
      end
      local waiting = fresh and entering[ws] or {}
      entering[ws] = not fresh and entering[ws] or nil
      for _, go in ipairs(waiting) do
        go()
      end
    end)
  end
  ws:choose(start)
end

--- Sends the draft in the input. If that fails, the input has it again.
function M.submit()
  local ws = workspace.find()
  if not ws then
    return
  end
  local buf = panel_of(ws).input
  local lines = api.nvim_buf_get_lines(buf, 0, -1, false)
  local prompt = vim.trim(table.concat(lines, '\n'))
  if prompt == '' then
    return
  end
  api.nvim_buf_set_lines(buf, 0, -1, false, {})
  M.send(ws, prompt, {
    after = function()
      drafts.sent(buf, prompt)
    end,
  })
end

--- Sends a prompt from outside the chat.
--- @param ws cursord.Workspace
--- @param prompt string
--- @param opts { selection?: table, new?: boolean }
function M.ask(ws, prompt, opts)
  remember(ws, opts.selection)
  local origin = panel_of(ws).origin
  local extra = {}
  if opts.selection and origin and not prompt:find('@selection', 1, true) then
    extra = context.expand(ws, '@selection', origin)
  end
  if config.get().chat.open_on_ask then
    M.show(ws)
  end
  M.send(ws, prompt, { origin = origin, context = extra, new = opts.new })
end

--- The text of the transcript's window bar, or the title for its status line.
--- @param part? 'text'|'title'
function M.winbar(part)
  local win = vim.g.statusline_winid or 0
  local buf, width = api.nvim_win_get_buf(win), api.nvim_win_get_width(win)
  for ws, panel in pairs(panels) do
    if panel.shown and panel.shown.buf == buf then
      return require('cursord.winbar')[part or 'text'](ws, panel.shown.session, width)
    end
  end
  return ''
end

workspace.on('session', function(ws)
  if windows(ws) then
    vim.cmd.redrawstatus({ bang = true })
  end
end)

-- The window bar shows how long the turn has been running.
quiet.every(function()
  for ws in pairs(panels) do
    if windows(ws) then
      return vim.cmd.redrawstatus({ bang = true })
    end
  end
end)

workspace.on('reset', function(ws)
  local panel = panels[ws]
  if panel and panel.shown then
    panel.shown:reload()
  end
end)

return M
