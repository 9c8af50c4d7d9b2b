--- The :Cursord command.
local rpc = require('cursord.rpc')
local subs = require('cursord.subcommands')
local workspace = require('cursord.workspace')

local api = vim.api
local M = {}

local counted = { next = true, prev = true }

--- Runs the command.
--- @param cmd vim.api.keyset.create_user_command.command_args
function M.run(cmd)
  local args, following = cmd.args, nil
  local sub = subs[args:match('^%w+')]
  if not (sub and sub.text) and args:find('|', 1, true) then
    args, following = args:match('^([^|]-)%s*|(.*)$')
  end
  local name, mark, rest = args:match('^(%w+)(!?)%s*(.-)%s*$')
  if not name then
    if args ~= '' then
      return rpc.say(('%q is no subcommand of :Cursord'):format(args), vim.log.levels.ERROR)
    end
    sub, mark, rest, name = subs.chat, '', '', 'chat'
  elseif not sub then
    local text = '%q is no subcommand; :Cursord and <Tab> list them'
    return rpc.say(text:format(name), vim.log.levels.ERROR)
  end
  local bang = cmd.bang or mark == '!'
  if bang and not sub.bang then
    return rpc.say(('no ! allowed after %q'):format(name), vim.log.levels.ERROR)
  elseif cmd.range > 0 and not sub.range then
    return rpc.say(('no range allowed before %q'):format(name), vim.log.levels.ERROR)
  elseif rest ~= '' and not sub.rest then
    return rpc.say(('%q takes no argument: %s'):format(name, rest), vim.log.levels.ERROR)
  end
  if name == 'health' then
    return sub.run({} --[[@as cursord.Args]])
  end
  local range, count = nil, tonumber(rest) or 1
  if counted[name] and cmd.range > 0 then
    count = cmd.line2
  elseif cmd.range > 0 then
    local last = api.nvim_buf_line_count(0)
    range = { first = math.min(cmd.line1, last) - 1, last = math.min(cmd.line2, last) - 1 }
  end
  local ws, buf = workspace.open(), api.nvim_get_current_buf()
  local function go()
    if sub.reviews == 'here' and buf ~= api.nvim_get_current_buf() then
      return rpc.say(('nothing is done: %q was meant for another buffer'):format(name))
    end
    sub.run({ ws = ws, rest = rest, bang = bang, range = range, count = math.max(count, 1) })
    if following then
      vim.cmd(following)
    end
  end
  if sub.reviews then
    require('cursord.docs').when_known(ws, go)
  else
    go()
  end
end

--- Completes the command's arguments.
--- @param lead string
--- @param line string
--- @return string[]
function M.complete(lead, line)
  local before = line:match('Cu%a*!?%s+(.*)$') or ''
  local name = before:match('^(%w+)!?%s')
  local list = {}
  if name then
    list = subs[name] and subs[name].complete or {}
    list = type(list) == 'function' and list(lead) or list
  else
    for sub, about in pairs(subs) do
      list[#list + 1] = sub
      if about.bang then
        list[#list + 1] = sub .. '!'
      end
    end
    table.sort(list)
  end
  return vim.tbl_filter(function(item)
    -- For a path, any part of it is enough.
    return vim.startswith(item, lead) or lead:find('^[@/]') ~= nil
  end, list --[[@as string[] ]])
end

--- Connects when Neovim starts, if `autostart` is set.
function M.autostart()
  if require('cursord.config').get().autostart then
    workspace.open()
  end
end

return M
