--- Windows of the plugin in a session of Neovim (|:mksession|). The session file restores their names and not their content.
local api = vim.api
local M = {}

--- The kind of a restored window of the plugin, such as "chat".
--- @param win integer
--- @return string?
local function kind_of(win)
  local buf = api.nvim_win_get_buf(win)
  return vim.bo[buf].buftype == '' and api.nvim_buf_get_name(buf):match('^cursord://(%a+)/') or nil
end

--- @param win integer
local function close(win)
  local buf = api.nvim_win_get_buf(win)
  if not pcall(api.nvim_win_close, win, true) then
    api.nvim_win_set_buf(win, api.nvim_create_buf(true, false)) -- Neovim keeps its last window
  end
  pcall(api.nvim_buf_delete, buf, { force = true })
end

--- Closes the restored windows of the plugin, and opens the chat again in each tab page that had it.
function M.windows()
  for _, tab in ipairs(api.nvim_list_tabpages()) do
    local kinds = {} --- @type table<string, true>
    for _, win in ipairs(api.nvim_tabpage_list_wins(tab)) do
      local kind = kind_of(win)
      if kind then
        kinds[kind] = true
        close(win)
      end
    end
    if api.nvim_tabpage_is_valid(tab) and next(kinds) then
      api.nvim_win_call(api.nvim_tabpage_get_win(tab), function()
        if kinds.base or kinds.copy then
          vim.cmd.diffoff()
        end
        if kinds.chat or kinds.input then
          require('cursord.chat').show(require('cursord.workspace').open())
        end
      end)
    end
  end
end

return M
