--- Symbols of language servers, for completion. The completed text is the symbol's place.
local api = vim.api
local M = {}

local least, most = 2, 20

local known = { query = '', items = {} } --- @type { query: string, items: table[] }

--- @param root string
--- @param symbol table
--- @return table?
local function item_of(root, symbol)
  local location = symbol.location or {}
  local ok, path = pcall(vim.uri_to_fname, location.uri or '')
  path = ok and (vim.uv.fs_realpath(path) or path) or ''
  if not vim.startswith(path, root .. '/') then
    return nil
  end
  local range, place = location.range, path:sub(#root + 2)
  local kind = vim.lsp.protocol.SymbolKind[symbol.kind] or 'symbol'
  local lines = range and (':%d-%d'):format(range.start.line + 1, range['end'].line + 1) or ''
  return {
    word = '@' .. place .. lines,
    abbr = '@' .. symbol.name,
    menu = ('%s in %s'):format(kind:lower(), place),
  }
end

--- The known symbols that match.
--- @param root string
--- @param buf? integer a buffer with the language server
--- @param query string
--- @param come? fun() called when more symbols have come
--- @return table[]
function M.items(root, buf, query, come)
  if query == known.query or not buf or #query < least or query:find('[/.:]') then
    return query == known.query and known.items or {}
  elseif #vim.lsp.get_clients({ bufnr = buf, method = 'workspace/symbol' }) == 0 then
    return {}
  end
  known = { query = query, items = {} }
  vim.lsp.buf_request_all(buf, 'workspace/symbol', { query = query }, function(answers)
    local items = {}
    for _, answer in pairs(answers) do
      for _, symbol in ipairs(type(answer.result) == 'table' and answer.result or {}) do
        items[#items + 1] = #items < most and item_of(root, symbol) or nil
      end
    end
    if known.query == query and #items > 0 and api.nvim_get_mode().mode:find('^i') then
      known.items = items
      if come then
        come()
      end
    end
  end)
  return {}
end

return M
