--- A source for blink.cmp: { name = 'Cursor', module = 'cursord.sources.blink' }
local items = require('cursord.sources.items')

local Source = {}
Source.__index = Source

function Source.new()
  return setmetatable({}, Source)
end

function Source.enabled()
  return items.is_input()
end

function Source.get_trigger_characters()
  return { '@', '/' }
end

--- @param context table
--- @param callback fun(answer: table)
function Source.get_completions(_, context, callback)
  local row, column = context.cursor[1] - 1, context.cursor[2]
  callback({
    items = items.at(context.line, column, row, function() end),
    is_incomplete_forward = true,
    is_incomplete_backward = true,
  })
end

return Source
