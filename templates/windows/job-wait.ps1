# Waits at most Seconds for the end of the job Task: `running`, `gone` (neither the job nor its result is there), or
# `ended` with its status and the end of what it printed. Folder: the job's; empty: only whether it runs.
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
        $runs = @($found | Where-Object -FilterScript { @('Running', 'Queued') -contains "$($_.State)" }).Count -gt 0
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
if ($state -eq 'ended') {
    $answer['status'] = (Read-Utf8 -Path "$Folder\status").Trim()
    foreach ($name in @('output', 'errors')) {
        $text = ''
        if (Test-Path -LiteralPath "$Folder\$name") { $text = Read-Utf8 -Path "$Folder\$name" }
        if ($text.Length -gt 1048576) { $text = $text.Substring($text.Length - 1048576) }
        $answer[$name] = $text
    }
}
Write-Result -Value $answer
