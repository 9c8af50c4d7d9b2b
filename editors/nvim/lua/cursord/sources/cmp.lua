--- A source for nvim-cmp: require('cmp').register_source('cursord', require('cursord.sources.cmp').new())
local items = require('cursord.sources.items')

local Source = {}
Source.__index = Source

function Source.new()
  return setmetatable({}, Source)
end

function Source.is_available()
  return items.is_input()
end

function Source.get_trigger_characters()
  return { '@', '/' }
end

function Source.get_keyword_pattern()
  return [[[@/]\S*]]
end

function Source.get_position_encoding_kind()
  return 'utf-8'
end

--- @param params table
--- @param callback fun(answer: table)
function Source.complete(_, params, callback)
  local cursor = params.context.cursor
  local function answer()
    local list = items.at(
      params.context.cursor_line,
      cursor.col - 1,
      cursor.row - 1,
      function() end
    )
    callback({ items = list, isIncomplete = true })
  end
  answer()
end

return Source
