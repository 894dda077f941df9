-- Posts events: wrk … -s events.lua URL -- FILE [EVENTS_A_REQUEST CONTENT_TYPE [KEY]]
--
-- FILE has one event on each line, or, without the other arguments, complete requests, each after a line with its size in
-- bytes. Requests are built before the clock starts, and sent repeatedly in order. At the end it prints one line: the number
-- of responses, the duration in microseconds, the number of error responses, the number of socket errors, and the median and
-- the 99th percentile of the latency in microseconds.

local most_requests = 2000
local requests = {}
local position = 0

local function read_requests(path)
    local file = assert(io.open(path, "rb"))
    local size = file:read("*n")
    while size do
        file:read(1)
        requests[#requests + 1] = file:read(size)
        size = file:read("*n")
    end
    file:close()
end

function init(arguments)
    if #arguments == 1 then
        return read_requests(arguments[1])
    end
    local file, size = arguments[1], tonumber(arguments[2])
    local header = { ["Content-Type"] = arguments[3] }
    if arguments[4] then
        header["Authorization"] = "Bearer " .. arguments[4]
    end
    local lines = {}
    for line in io.lines(file) do
        lines[#lines + 1] = line
        if #lines == size then
            local body = table.concat(lines, "\n") .. "\n"
            requests[#requests + 1] = wrk.format("POST", nil, header, body)
            lines = {}
            if #requests == most_requests then
                break
            end
        end
    end
end

function request()
    position = position % #requests + 1
    return requests[position]
end

function done(summary, latency)
    local errors = summary.errors
    io.write(string.format("load: %d %d %d %d %.0f %.0f\n", summary.requests, summary.duration, errors.status,
        errors.connect + errors.read + errors.write + errors.timeout,
        latency:percentile(50), latency:percentile(99)))
end
