--- Saved prompts. "/name" at the beginning of a prompt stands for the file .cursor/commands/name.md of the workspace or
--- of the home folder.
local M = {}

local size_most, files_most = 256 * 1024, 500

--- @class cursord.SavedPrompt
--- @field name string
--- @field path string
--- @field about string

--- @param path string
--- @return string?
local function read(path)
  local file = io.open(path)
  local text = file and file:read(size_most)
  if file then
    file:close()
  end
  return text
end

--- @param root string
--- @return string[]
local function folders(root)
  return { vim.fs.joinpath(root, '.cursor/commands'), vim.fn.expand('~/.cursor/commands') }
end

--- The saved prompts of a workspace and of the home folder, by name. The workspace's come first where names are equal.
--- @param root string
--- @return cursord.SavedPrompt[]
function M.list(root)
  local out, seen = {}, {}
  for i, folder in ipairs(folders(root)) do
    for name, kind in vim.fs.dir(folder, { depth = 3 }) do
      local short = kind ~= 'directory' and name:match('^(.+)%.md$')
      if short and not short:find('%s') and not seen[short] and #out < files_most then
        seen[short] = true
        out[#out + 1] = {
          name = short,
          path = vim.fs.joinpath(folder, name),
          about = i == 1 and 'saved prompt' or 'saved prompt of yours',
        }
      end
    end
  end
  table.sort(out, function(a, b)
    return a.name < b.name
  end)
  return out
end

--- The prompt to send: the text of the saved prompt, followed by the person's words.
--- @param root string
--- @param prompt string
--- @return string
function M.expand(root, prompt)
  local name, rest = prompt:match('^/(%S+)%s*(.*)$')
  for _, saved in ipairs(name and M.list(root) or {}) do
    local text = saved.name == name and read(saved.path)
    if text and vim.trim(text) ~= '' then
      return vim.trim(text) .. (rest ~= '' and '\n\n' .. rest or '')
    end
  end
  return prompt
end

return M
