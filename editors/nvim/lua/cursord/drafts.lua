--- Drafts in the chat's input that outlive Neovim.
local api = vim.api
local M = {}

local text_most = 1024 * 1024

local kept = {} --- @type table<integer, string> the folders of workspaces, by buffer

--- @param root string
--- @return string
local function file_of(root)
  return vim.fs.joinpath(vim.fn.stdpath('state'), 'cursord', 'drafts', vim.fn.sha256(root))
end

--- @param root string
--- @param text string
local function write(root, text)
  local path = file_of(root)
  vim.fn.mkdir(vim.fs.dirname(path), 'p', tonumber('700', 8))
  local file = vim.uv.fs_open(path, 'w', tonumber('600', 8))
  if file then
    vim.uv.fs_write(file, text)
    vim.uv.fs_close(file)
  end
end

--- Puts the draft that the last Neovim left into an input, and has this one leave its own.
--- @param buf integer
--- @param root string the folder of the workspace
function M.keep(buf, root)
  kept[buf] = root
  local path = file_of(root)
  local file = io.open(path, 'rb')
  local text = file and file:read(text_most)
  if file then
    file:close()
    os.remove(path)
  end
  if text then
    api.nvim_buf_set_lines(buf, 0, -1, false, vim.split(text, '\n', { plain = true }))
  end
end

api.nvim_create_autocmd('VimLeavePre', {
  group = api.nvim_create_augroup('cursord_drafts', {}),
  callback = function()
    for buf, root in pairs(kept) do
      local lines = api.nvim_buf_is_loaded(buf) and api.nvim_buf_get_lines(buf, 0, -1, false) or {}
      local text = table.concat(lines, '\n')
      if vim.trim(text) ~= '' and #text <= text_most then
        pcall(write, root, text)
      end
    end
  end,
})

return M
