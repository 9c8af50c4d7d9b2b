--- How the chat shares the screen with files. When the screen gets other columns, the chat gets what it would get at its opening,
--- unless the person has given it a width.
local config = require('cursord.config')
local panes = require('cursord.panes')
local windows = require('cursord.windows')

local api = vim.api
local M = {}

--- @class cursord.Share
--- @field input integer the window below the transcript
--- @field columns integer of the screen
--- @field beside boolean the chat is beside files, and not below them
--- @field width integer that the chat has got
--- @field wins string the windows of its tab page
--- @field own? boolean the person has given it another width

local shares = {} --- @type table<integer, cursord.Share> by the transcript's window

--- Where the chat opens.
--- @return { split: 'left'|'right'|'below', width?: integer, height?: integer }
function M.place()
  local cfg = config.get().chat
  if panes.is_beside(cfg.position) then
    local width = math.min(cfg.width, math.floor(vim.o.columns / 2))
    return { split = cfg.position, width = width }
  end
  return { split = 'below', height = math.min(cfg.height, math.floor(vim.o.lines / 2)) }
end

--- The height of the input. Most of the room goes to the transcript.
--- @param height integer of both
--- @return integer
function M.input_height(height)
  return math.min(config.get().chat.input_height, math.max(math.floor(height / 3), 1))
end

--- @param win integer
--- @return string
local function wins_beside(win)
  local wins = vim.tbl_filter(function(one)
    return api.nvim_win_get_config(one).relative == ''
  end, api.nvim_tabpage_list_wins(api.nvim_win_get_tabpage(win)))
  table.sort(wins)
  return table.concat(wins, ' ')
end

--- @param win integer
--- @param share cursord.Share
local function note(win, share)
  share.columns, share.width, share.wins =
    vim.o.columns, api.nvim_win_get_width(win), wins_beside(win)
end

--- Has the chat keep its share.
--- @param win integer the transcript's window
--- @param input integer
function M.keep(win, input)
  local share = shares[win] or { beside = M.place().width ~= nil }
  share.input, shares[win] = input, share
  note(win, share)
end

local keys = { left = 'H', right = 'L', below = 'J' }

--- @param win integer
--- @param share cursord.Share
local function give(win, share)
  local place = M.place()
  local beside = place.width ~= nil
  if beside ~= share.beside then
    share.beside = beside
    api.nvim_win_call(win, function()
      vim.cmd.wincmd(keys[place.split])
    end)
    vim.wo[win][0].winfixwidth = beside
    local height = place.height or api.nvim_win_get_height(win)
    if api.nvim_win_is_valid(share.input) then
      vim.fn.win_splitmove(share.input, win, { rightbelow = true })
      api.nvim_win_set_height(share.input, M.input_height(height))
      windows.keep_height(share.input, win)
      height = height - api.nvim_win_get_height(share.input) - 1
    end
    api.nvim_win_set_height(win, height)
  end
  if place.width then
    api.nvim_win_set_width(win, place.width)
  end
  note(win, share)
end

--- @param act fun(win: integer, share: cursord.Share)
local function each(act)
  for win, share in pairs(shares) do
    local there = api.nvim_win_is_valid(win)
    if not there or vim.bo[api.nvim_win_get_buf(win)].filetype ~= 'cursord_chat' then
      shares[win] = nil
    elseif api.nvim_win_get_tabpage(win) == api.nvim_get_current_tabpage() then
      act(win, share)
    end
  end
end

local group = api.nvim_create_augroup('cursord_share', {})

-- Neovim resizes the windows of another tab page when that is entered, and moves none beside the command-line window.
api.nvim_create_autocmd({ 'VimResized', 'TabEnter', 'CmdwinLeave' }, {
  group = group,
  callback = vim.schedule_wrap(function()
    if vim.fn.getcmdwintype() ~= '' then
      return
    end
    each(function(win, share)
      if share.columns ~= vim.o.columns and not share.own then
        give(win, share)
      end
    end)
  end),
})

api.nvim_create_autocmd('WinResized', {
  group = group,
  callback = function()
    each(function(win, share)
      if share.columns ~= vim.o.columns then
        return
      elseif share.wins == wins_beside(win) and share.width ~= api.nvim_win_get_width(win) then
        share.own = true
      end
      note(win, share)
    end)
  end,
})

return M
