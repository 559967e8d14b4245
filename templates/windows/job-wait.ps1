# Waits at most Seconds for the end of the job Task: `running`, `gone` (neither the job nor its status is there; result:
# that of its task, if there is one), or `ended` with its status and the end of what it printed; cut: of which the
# beginning is missing. Folder: the job's; empty: only whether it runs.
[CmdletBinding()]
param(
    [Parameter(Mandatory = $true)][AllowEmptyString()][string]$Folder,
    [Parameter(Mandatory = $true)][string]$Task,
    [Parameter(Mandatory = $true)][int]$Seconds
)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$deadline = (Get-Date).AddSeconds($Seconds)
$state = 'running'
while ($state -eq 'running') {
    # A scheduler that fails for a moment does not say that the job is gone: it is asked until the deadline.
    $runs = $true
    try {
        $found = @(Find-Existing -Look { Get-ScheduledTask -TaskName $Task -ErrorAction 'Stop' })
        $runs = @($found | Where-Object -FilterScript { @('Running', 'Queued') -contains "$(Get-Property -Of $_ -Name 'State')" }).Count -gt 0
    }
    catch {
        if ((Get-Date) -ge $deadline) { throw }
    }
    # In this order: a job that ends between the two looks has its status.
    if ($Folder -ne '' -and (Test-Path -LiteralPath "$Folder\status")) { $state = 'ended' }
    elseif (-not $runs) { $state = 'gone' }
    elseif ((Get-Date) -ge $deadline) { break }
    else { Start-Sleep -Milliseconds 200 }
}
$answer = @{ state = $state }
if ($state -eq 'gone') {
    foreach ($one in @(Find-Existing -Look { Get-ScheduledTaskInfo -TaskName $Task -ErrorAction 'Stop' })) {
        $answer['result'] = [string](Get-PropertyOrNull -Of $one -Name 'LastTaskResult')
    }
}
if ($state -eq 'ended') {
    $answer['status'] = (Read-Utf8 -Path "$Folder\status").Trim()
    foreach ($name in @('output', 'errors')) {
        $text = ''
        if (Test-Path -LiteralPath "$Folder\$name") { $text = Read-Utf8 -Path "$Folder\$name" }
        $from = $text.Length - 1048576
        # The line of the result stays whole.
        $result = $text.LastIndexOf("`nKBUILD-RESULT:")
        if ($result -ge 0 -and $result -lt $from) { $from = $result }
        if ($from -gt 0) {
            $text = $text.Substring($from)
            if ($name -eq 'output') { $answer['cut'] = $true }
        }
        $answer[$name] = $text
    }
}
Write-Result -Value $answer
