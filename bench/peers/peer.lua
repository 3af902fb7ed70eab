-- The same work as work.py; HMAC-SHA-256 from the OpenSSL that nginx is linked with.
local cjson = require "cjson.safe"
local ffi = require "ffi"
local bit = require "bit"

ffi.cdef[[
const void *EVP_sha256(void);
unsigned char *HMAC(const void *md, const void *key, int key_len, const unsigned char *data,
                    size_t length, unsigned char *out, unsigned int *out_length);
]]

local BOUNDS = { 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10 }
local LIFETIME_S = 5
local out = ffi.new("unsigned char[32]")
local wanted = told.digest:gsub("%x%x", function(pair) return string.char(tonumber(pair, 16)) end)
local credentials, accounts = {}, {}
local peer = {}

local function digest(secret)
  ffi.C.HMAC(ffi.C.EVP_sha256(), told.key, #told.key, secret, #secret, out, nil)
  return ffi.string(out, 32)
end

local function equal(one, other)
  local differs = 0
  for place = 1, 32 do
    differs = bit.bor(differs, bit.bxor(one:byte(place), other:byte(place)))
  end
  return differs == 0
end

local function kept(records, id, known, make)
  local found = records[id]
  if found and found["until"] > ngx.now() then return found end
  if id ~= known then return nil end
  found = make()
  found["until"] = ngx.now() + LIFETIME_S
  records[id] = found
  return found
end

local function refused(authorization, account_id)
  if not authorization or authorization:sub(1, 6) ~= "Basic " then return 401 end
  local pair = ngx.decode_base64(authorization:sub(7))
  local colon = pair and pair:find(":", 1, true)
  if not colon then return 401 end
  local client = pair:sub(1, colon - 1)
  local credential = kept(credentials, client, told.client_id, function()
    return { company = "bench", digest = wanted, permissions = { ["balance:read"] = true } }
  end)
  local sent = digest(pair:sub(colon + 1))
  if not credential or not equal(sent, credential.digest) then return 401 end
  ngx.var.client = client
  if #account_id ~= 36 then return 404 end
  local account = kept(accounts, account_id, told.account, function()
    return { company = "bench", active = true, verified = true }
  end)
  if not account or account.company ~= credential.company then return 404 end
  local allowed = account.active and account.verified and credential.permissions["balance:read"]
  return allowed and 0 or 403
end

local function observe(name, seconds)
  local place = #BOUNDS + 1
  for each, bound in ipairs(BOUNDS) do
    if seconds <= bound then place = each break end
  end
  ngx.shared.metrics:incr(name .. place, 1, 0)
  ngx.shared.metrics:incr(name .. "sum", seconds, 0)
end

local function money(centavos)
  return string.format("%d.%02d", math.floor(centavos / 100), centavos % 100)
end

function peer.answer()
  ngx.header["X-Trace-ID"] = ngx.var.request_id
  ngx.header["Cache-Control"] = "no-store"
  local status = refused(ngx.var.http_authorization, ngx.var.account)
  if status > 0 then return ngx.exit(status) end
  local called = ngx.now()
  local answer = ngx.location.capture("/bank")
  ngx.update_time()
  local took_s = ngx.now() - called
  local found = cjson.decode(answer.body)
  local body = '{"balance":' .. money(found.saldo_centavos) .. ',"blocked":'
    .. money(found.bloqueado_centavos) .. ',"updated_at":"' .. found.atualizado_em:sub(1, 19) .. 'Z"}'
  ngx.shared.metrics:incr("requests balance GET 200", 1, 0)
  observe("request", ngx.now() - ngx.req.start_time())
  observe("bank", took_s)
  ngx.var.bank_s = took_s
  ngx.header["Content-Length"] = #body
  ngx.print(body)
end

return peer
