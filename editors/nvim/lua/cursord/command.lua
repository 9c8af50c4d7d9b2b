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
  local range, count = nil, math.max(tonumber(rest) or 1, 1)
  if counted[name] and cmd.range > 0 then
    count = math.max(cmd.line2, 1)
  elseif cmd.range > 0 then
    local last = api.nvim_buf_line_count(0)
    range = { first = math.min(cmd.line1, last) - 1, last = math.min(cmd.line2, last) - 1 }
  end
  local ws = workspace.open()
  local function go(_, row, rows)
    if range then
      range = { first = rows[1], last = rows[2] }
    end
    --- @type cursord.Args
    local given = { ws = ws, rest = rest, bang = bang, range = range, count = count, row = row }
    sub.run(given)
    if following then
      vim.cmd(following)
    end
  end
  local rows = range and { range.first, range.last } or {}
  if not sub.reviews then
    return go(0, api.nvim_win_get_cursor(0)[1] - 1, rows)
  end
  local of = sub.reviews == 'here' and (range and 'rows' or 'cursor') or sub.reviews
  require('cursord.review.await').run(ws, { name = name, of = of, rows = rows, act = go })
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
