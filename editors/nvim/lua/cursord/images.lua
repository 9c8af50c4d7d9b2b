--- Images that go with the next prompt, and what went with a prompt that is edited.
local rpc = require('cursord.rpc')

local M = {}

--- What waits for a prompt, as contexts.
local waiting = {} --- @type table<cursord.Workspace, table[]>

--- The largest image, in bytes, that fits into a message as base64.
local most = 11 * 1024 * 1024

local suffixes = { png = true, jpg = true, jpeg = true, gif = true, webp = true }

--- Whether a file is an image, by its name. The daemon checks its content.
--- @param path string
function M.is_image(path)
  return suffixes[(path:match('%.(%w+)$') or ''):lower()] == true
end

local function add(ws, context)
  waiting[ws] = waiting[ws] or {}
  table.insert(waiting[ws], context)
  local n = #waiting[ws]
  rpc.say(('%d image%s with the next prompt'):format(n, n == 1 and ' goes' or 's go'))
end

--- Has the next prompt take along what went with a turn's prompt.
--- @param ws cursord.Workspace
--- @param turn cursord.Turn
function M.again(ws, turn)
  local list, lost = require('cursord.context').again(ws, turn)
  if #list > 0 then
    waiting[ws] = vim.list_extend(waiting[ws] or {}, list)
    local names = vim.tbl_map(function(one)
      return one.path and vim.fs.basename(one.path) or one.title or one.kind
    end, list)
    local text = 'with the prompt goes again: %s; :Cursord image! leaves it out'
    rpc.say(text:format(table.concat(names, ', ')))
  end
  if lost then
    local text = 'a text that went with the prompt was too long to be kept: give it again'
    rpc.say(text, vim.log.levels.WARN)
  end
  for _, image in ipairs(turn.images or {}) do
    M.add(ws, image)
  end
end

--- Returns the images for the prompt that is sent now, and forgets them.
--- @param ws cursord.Workspace
--- @return table[]
function M.take(ws)
  local list = waiting[ws] or {}
  waiting[ws] = nil
  return list
end

--- Keeps images for the next prompt: this one could not be sent.
--- @param ws cursord.Workspace
--- @param list table[]
function M.give_back(ws, list)
  if #list > 0 then
    waiting[ws] = vim.list_extend(list, waiting[ws] or {})
  end
end

--- The command that prints the image in the clipboard.
--- @return string[]?
local function clipboard()
  local tools = {
    { 'pngpaste', vim.fn.has('mac') == 1, { '-' } },
    { 'wl-paste', vim.env.WAYLAND_DISPLAY ~= nil, { '--type', 'image/png' } },
    { 'xclip', vim.env.DISPLAY ~= nil, { '-selection', 'clipboard', '-t', 'image/png', '-o' } },
  }
  for _, tool in ipairs(tools) do
    if tool[2] and vim.fn.executable(tool[1]) == 1 then
      return vim.list_extend({ tool[1] }, tool[3])
    end
  end
end

local function paste(ws)
  local command = clipboard()
  if not command then
    local hint = 'no program that reads images from the clipboard: '
      .. 'install wl-clipboard, xclip or pngpaste, or name a file'
    return rpc.say(hint, vim.log.levels.ERROR)
  end
  vim.system(
    command,
    { text = false, timeout = 5000 },
    vim.schedule_wrap(function(result)
      local bytes = result.stdout or ''
      if result.code ~= 0 or bytes == '' then
        rpc.say('there is no image in the clipboard', vim.log.levels.WARN)
      elseif #bytes > most then
        rpc.say(
          'the image in the clipboard is too large: save it, and name the file',
          vim.log.levels.ERROR
        )
      else
        add(ws, { kind = 'image', data = vim.base64.encode(bytes), mimeType = 'image/png' })
      end
    end)
  )
end

--- Whether a file is an image, by its first bytes, as the daemon decides.
--- @param path string
--- @return boolean
local function holds_image(path)
  local file = io.open(path, 'rb')
  local head = file and file:read(12) or ''
  if file then
    file:close()
  end
  return head:find('^\137PNG\r\n\26\n') ~= nil
    or head:find('^\255\216\255') ~= nil
    or head:find('^GIF8[79]a') ~= nil
    or head:find('^RIFF....WEBP') ~= nil
end

--- Adds an image to the next prompt: a file, or the image in the clipboard.
--- @param ws cursord.Workspace
--- @param path? string
function M.add(ws, path)
  if not path then
    return paste(ws)
  end
  path = vim.fs.normalize(vim.fn.fnamemodify(path, ':p'))
  if vim.fn.filereadable(path) == 0 then
    return rpc.say(('%s cannot be read'):format(path), vim.log.levels.ERROR)
  end
  if not holds_image(path) then
    local text = '%s is no image: name a PNG, JPEG, GIF or WebP'
    return rpc.say(text:format(vim.fs.basename(path)), vim.log.levels.ERROR)
  end
  add(ws, { kind = 'image', path = path })
end

--- @param ws cursord.Workspace
function M.clear(ws)
  waiting[ws] = nil
  rpc.say('no image goes with the next prompt')
end

return M
