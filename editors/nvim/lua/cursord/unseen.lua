--- Saves that no autocommand reports, as by ":noautocmd write". They are looked for each second while an agent runs: the
--- daemon would take their text for a command's.
local docs = require('cursord.docs')
local follow = require('cursord.follow')
local history = require('cursord.history')
local quiet = require('cursord.quiet')
local report = require('cursord.report')
local workspace = require('cursord.workspace')

local api = vim.api
local M = {}

--- @param doc cursord.Doc
local function look(doc)
  local tick = api.nvim_buf_get_changedtick(doc.buf)
  if doc.looked == tick or vim.bo[doc.buf].modified then
    return
  end
  doc.looked = tick
  if history.is_saved_since(doc.buf, doc.saves) then
    doc.saves = history.saves(doc.buf)
    follow.compare(doc.buf, doc.path)
    if vim.b[doc.buf].cursord_plain then -- else somebody has written the file since
      report.saved(doc)
    end
  end
end

--- Looks for such saves now.
function M.tick()
  for _, ws in pairs(workspace.all()) do
    for _, doc in ipairs(#ws:busy() > 0 and docs.of(ws) or {}) do
      if api.nvim_buf_is_loaded(doc.buf) then
        look(doc)
      end
    end
  end
end

quiet.every(M.tick)

return M
