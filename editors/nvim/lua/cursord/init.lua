--- Cursor's agent in Neovim, by way of the cursord daemon. See |cursord|.
local M = {}

--- Sets the configuration, as vim.g.cursord does. Calling it is optional.
--- @param opts? table
function M.setup(opts)
  vim.g.cursord = opts or {}
  require('cursord.config').reload()
end

--- The text for 'statusline'. Loads no module before a workspace is open.
--- @return string
function M.statusline()
  local status = package.loaded['cursord.status']
  return status and status.statusline() or ''
end

--- Runs a subcommand: require('cursord').run('ask', 'why?').
--- @param sub string
--- @param args? string
function M.run(sub, args)
  require('cursord.command').run({
    args = sub .. (args and ' ' .. args or ''),
    bang = false,
    range = 0,
  })
end

--- Every subcommand is a function of the module: require('cursord').accept('file'). Other names are nil.
return setmetatable(M, {
  __index = function(_, sub)
    if not require('cursord.subcommands')[sub] then
      return nil
    end
    return function(args)
      M.run(sub, args)
    end
  end,
})
